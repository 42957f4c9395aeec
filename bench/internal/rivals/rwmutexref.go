package rivals

import "sync"

// RWMutexRef keeps the pointer under a read-write mutex and a count of holders
// in the object, and recycles objects through a sync.Pool: the last holder
// resets the object and puts it back. It is the best-known design.
type RWMutexRef[T any] struct {
	mu      sync.RWMutex
	current *Object[T] // guarded by mu; the container counts as a holder
	pool    sync.Pool
	reset   func(*T)
}

// NewRWMutexRef returns an empty RWMutexRef.
func NewRWMutexRef[T any](f *Functions[T]) *RWMutexRef[T] {
	s := &RWMutexRef[T]{reset: f.Reset}
	s.pool.New = func() any { return f.make() }
	return s
}

// Acquire counts the caller as a holder of the current object.
func (s *RWMutexRef[T]) Acquire() *Object[T] {
	s.mu.RLock()
	obj := s.current
	if obj != nil {
		obj.holders.Add(1) // under the lock: the container still holds it
	}
	s.mu.RUnlock()
	return obj
}

// Release ends what Acquire began; the last holder resets the object.
func (s *RWMutexRef[T]) Release(obj *Object[T]) {
	if obj.holders.Add(-1) == 0 {
		s.reset(&obj.Value)
		s.pool.Put(obj)
	}
}

// GetNew returns an object for the caller to fill.
func (s *RWMutexRef[T]) GetNew() *Object[T] { return s.pool.Get().(*Object[T]) }

// Update makes obj current.
func (s *RWMutexRef[T]) Update(obj *Object[T]) {
	obj.holders.Store(1)
	s.mu.Lock()
	old := s.current
	s.current = obj
	s.mu.Unlock()
	if old != nil {
		s.Release(old)
	}
}

func (*RWMutexRef[T]) recycles() {}
