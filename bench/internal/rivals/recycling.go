package rivals

import (
	"sync"

	"github.com/poolswap/poolswap"
)

// PoolSwap is this project's way.
type PoolSwap[T any] struct {
	*poolswap.Container[Object[T], *Object[T]]
}

// NewPoolSwap returns an empty PoolSwap. Several writers at a time want as many
// spares as there are writers.
func NewPoolSwap[T any](f *Functions[T], options poolswap.Options[Object[T]]) *PoolSwap[T] {
	return &PoolSwap[T]{poolswap.NewEmptyContainer(poolswap.NewPoolWithOptions(f.make, func(obj *Object[T]) bool {
		f.Reset(&obj.Value)
		return true
	}, options))}
}

func (*PoolSwap[T]) recycles() {}

// rwMutexRef keeps the pointer under a read-write mutex and a count of holders
// in the object, and recycles objects through a sync.Pool: the last holder
// resets the object and puts it back. It is the best-known design.
type rwMutexRef[T any] struct {
	mu      sync.RWMutex
	current *Object[T] // guarded by mu; the container counts as a holder
	pool    sync.Pool
	reset   func(*T)
}

func newRWMutexRef[T any](f *Functions[T]) *rwMutexRef[T] {
	s := &rwMutexRef[T]{reset: f.Reset}
	s.pool.New = func() any { return f.make() }
	return s
}

func (s *rwMutexRef[T]) Acquire() *Object[T] {
	s.mu.RLock()
	obj := s.current
	if obj != nil {
		obj.holders.Add(1) // under the lock: the container still holds it
	}
	s.mu.RUnlock()
	return obj
}

func (s *rwMutexRef[T]) Release(obj *Object[T]) {
	if obj.holders.Add(-1) == 0 {
		s.reset(&obj.Value)
		s.pool.Put(obj)
	}
}

func (s *rwMutexRef[T]) GetNew() *Object[T] { return s.pool.Get().(*Object[T]) }

func (s *rwMutexRef[T]) Update(obj *Object[T]) {
	obj.holders.Store(1)
	s.mu.Lock()
	old := s.current
	s.current = obj
	s.mu.Unlock()
	if old != nil {
		s.Release(old)
	}
}

func (*rwMutexRef[T]) recycles() {}
