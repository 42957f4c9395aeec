package rivals

import (
	"sync"
	"sync/atomic"
)

// AtomicPtr makes a new object for each update and swaps a pointer; the garbage
// collector takes the old one.
type AtomicPtr[T any] struct {
	current atomic.Pointer[Object[T]]
	f       *Functions[T]
}

// NewAtomicPtr returns an empty AtomicPtr.
func NewAtomicPtr[T any](f *Functions[T]) *AtomicPtr[T] { return &AtomicPtr[T]{f: f} }

// Acquire returns the current object.
func (s *AtomicPtr[T]) Acquire() *Object[T] { return s.current.Load() }

// Release does nothing.
func (s *AtomicPtr[T]) Release(*Object[T]) {}

// GetNew returns a new object for the caller to fill.
func (s *AtomicPtr[T]) GetNew() *Object[T] { return s.f.make() }

// Update makes obj current.
func (s *AtomicPtr[T]) Update(obj *Object[T]) { s.current.Store(obj) }

// MutexAlloc is AtomicPtr with a read-write mutex in place of the atomic
// pointer. It is held for the pointer alone, not while the object is filled or
// read.
type MutexAlloc[T any] struct {
	mu      sync.RWMutex
	current *Object[T] // guarded by mu
	f       *Functions[T]
}

// NewMutexAlloc returns an empty MutexAlloc.
func NewMutexAlloc[T any](f *Functions[T]) *MutexAlloc[T] { return &MutexAlloc[T]{f: f} }

// Acquire returns the current object.
func (s *MutexAlloc[T]) Acquire() *Object[T] {
	s.mu.RLock()
	obj := s.current
	s.mu.RUnlock()
	return obj
}

// Release does nothing.
func (s *MutexAlloc[T]) Release(*Object[T]) {}

// GetNew returns a new object for the caller to fill.
func (s *MutexAlloc[T]) GetNew() *Object[T] { return s.f.make() }

// Update makes obj current.
func (s *MutexAlloc[T]) Update(obj *Object[T]) {
	s.mu.Lock()
	s.current = obj
	s.mu.Unlock()
}
