package rivals

import "sync"

// MutexInPlace has one object. A writer changes it under the write lock of a
// read-write mutex, and readers wait.
type MutexInPlace[T any] struct {
	mu    sync.RWMutex
	only  *Object[T] // guarded by mu
	reset func(*T)
}

// NewMutexInPlace returns a MutexInPlace whose object is empty.
func NewMutexInPlace[T any](f *Functions[T]) *MutexInPlace[T] {
	return &MutexInPlace[T]{only: f.make(), reset: f.Reset}
}

// Acquire locks out writers and returns the object.
func (s *MutexInPlace[T]) Acquire() *Object[T] {
	s.mu.RLock()
	return s.only
}

// Release ends what Acquire began.
func (s *MutexInPlace[T]) Release(*Object[T]) { s.mu.RUnlock() }

// GetNew locks out readers and writers until Update and returns the object, empty.
func (s *MutexInPlace[T]) GetNew() *Object[T] {
	s.mu.Lock()
	s.reset(&s.only.Value)
	return s.only
}

// Update ends what GetNew began.
func (s *MutexInPlace[T]) Update(*Object[T]) { s.mu.Unlock() }
