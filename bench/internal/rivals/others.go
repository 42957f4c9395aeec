package rivals

import (
	"sync"
	"sync/atomic"
)

// atomicPtr makes a new object for each update and swaps a pointer; the garbage
// collector takes the old one.
type atomicPtr[T any] struct {
	current atomic.Pointer[Object[T]]
	f       *Functions[T]
}

func (s *atomicPtr[T]) Acquire() *Object[T]   { return s.current.Load() }
func (s *atomicPtr[T]) Release(*Object[T])    {}
func (s *atomicPtr[T]) GetNew() *Object[T]    { return s.f.make() }
func (s *atomicPtr[T]) Update(obj *Object[T]) { s.current.Store(obj) }

// mutexAlloc is atomicPtr with a read-write mutex in place of the atomic
// pointer. It is held for the pointer alone, not while the object is filled or
// read.
type mutexAlloc[T any] struct {
	mu      sync.RWMutex
	current *Object[T] // guarded by mu
	f       *Functions[T]
}

func (s *mutexAlloc[T]) Acquire() *Object[T] {
	s.mu.RLock()
	obj := s.current
	s.mu.RUnlock()
	return obj
}

func (s *mutexAlloc[T]) Release(*Object[T]) {}
func (s *mutexAlloc[T]) GetNew() *Object[T] { return s.f.make() }

func (s *mutexAlloc[T]) Update(obj *Object[T]) {
	s.mu.Lock()
	s.current = obj
	s.mu.Unlock()
}

// mutexInPlace has one object. A writer changes it under the write lock of a
// read-write mutex, from GetNew to Update, and readers wait.
type mutexInPlace[T any] struct {
	mu    sync.RWMutex
	only  *Object[T] // guarded by mu
	reset func(*T)
}

func (s *mutexInPlace[T]) Acquire() *Object[T] {
	s.mu.RLock()
	return s.only
}

func (s *mutexInPlace[T]) Release(*Object[T]) { s.mu.RUnlock() }

func (s *mutexInPlace[T]) GetNew() *Object[T] {
	s.mu.Lock()
	s.reset(&s.only.Value)
	return s.only
}

func (s *mutexInPlace[T]) Update(*Object[T]) { s.mu.Unlock() }

// unsynchronized is the limit: objects for one goroutine alone, which fills and
// reads them without any synchronization. With one copy a fill finds in the
// caches the object that the last one left there, but no reader could use the object then.
// With two, which it fills in turn, the old one stays as it was.
type unsynchronized[T any] struct {
	copies  []*Object[T]
	current int
	reset   func(*T)
}

func newUnsynchronized[T any](f *Functions[T], copies int) *unsynchronized[T] {
	s := &unsynchronized[T]{copies: make([]*Object[T], copies), reset: f.Reset}
	for i := range s.copies {
		s.copies[i] = f.make()
		f.Fill(&s.copies[i].Value)
	}
	return s
}

func (s *unsynchronized[T]) Acquire() *Object[T] { return s.copies[s.current] }
func (s *unsynchronized[T]) Release(*Object[T])  {}

func (s *unsynchronized[T]) GetNew() *Object[T] {
	s.current = (s.current + 1) % len(s.copies)
	obj := s.copies[s.current]
	s.reset(&obj.Value)
	return obj
}

func (s *unsynchronized[T]) Update(*Object[T]) {}
