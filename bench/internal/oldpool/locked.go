package oldpool

import (
	"sync"
	"sync/atomic"
)

// Locked is sync.Pool as up to Go 1.12: the shared objects of each P are a list
// under a mutex, and each collection drops everything.
//
// It is safe for any number of goroutines and must not be copied.
type Locked[T any] struct {
	newT        func() *T
	locals      locals[lockedLocal[T]]
	collections atomic.Int64
}

type lockedLocal[T any] struct {
	private *T // of the P alone
	mu      sync.Mutex
	shared  []*T     // guarded by mu; the P adds and takes at the end, others take there too
	_       [80]byte // keeps neighbours off the cache lines
}

// NewLocked returns an empty pool.
func NewLocked[T any](newT func() *T) *Locked[T] {
	p := &Locked[T]{newT: newT}
	afterEach(p)
	return p
}

// Put passes x to the pool.
func (p *Locked[T]) Put(x *T) {
	mine, _ := p.locals.pinned()
	if mine.private == nil {
		mine.private = x
		unpin()
		return
	}
	unpin()
	// As it was: the lock is taken by a goroutine that may have moved.
	mine.mu.Lock()
	mine.shared = append(mine.shared, x)
	mine.mu.Unlock()
}

// Get takes an object out of the pool, or makes one.
func (p *Locked[T]) Get() *T {
	mine, all := p.locals.pinned()
	x := mine.private
	mine.private = nil
	unpin()
	if x != nil {
		return x
	}
	if x = mine.takeShared(); x != nil {
		return x
	}
	for i := range all {
		if x = all[i].takeShared(); x != nil {
			return x
		}
	}
	return p.newT()
}

func (l *lockedLocal[T]) takeShared() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.shared) - 1
	if last < 0 {
		return nil
	}
	x := l.shared[last]
	l.shared[last] = nil
	l.shared = l.shared[:last]
	return x
}

// Collected is what a garbage collection does to the pool.
func (p *Locked[T]) Collected() {
	p.locals.take()
	p.collections.Add(1)
}

// Collections returns how many collections the pool has seen.
func (p *Locked[T]) Collections() int64 { return p.collections.Load() }
