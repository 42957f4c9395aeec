package oldpool

import "sync/atomic"

// Chained is sync.Pool as since Go 1.13: the shared objects of each P are a
// chain of rings without a lock, and a collection sets everything aside as
// victims, which only the collection after it drops.
//
// It is safe for any number of goroutines and must not be copied.
type Chained[T any] struct {
	newT        func() *T
	locals      locals[chainedLocal[T]]
	victims     atomic.Pointer[[]chainedLocal[T]]
	collections atomic.Int64
}

type chainedLocal[T any] struct {
	private *T // of the P alone
	shared  chain[T]
	_       [104]byte // keeps neighbours off the cache lines
}

// NewChained returns an empty pool.
func NewChained[T any](newT func() *T) *Chained[T] {
	p := &Chained[T]{newT: newT}
	afterEach(p)
	return p
}

// Put passes x to the pool.
func (p *Chained[T]) Put(x *T) {
	mine, _ := p.locals.pinned()
	if mine.private == nil {
		mine.private = x
	} else {
		mine.shared.pushHead(x)
	}
	unpin()
}

// Get takes an object out of the pool, or makes one.
func (p *Chained[T]) Get() *T {
	mine, all := p.locals.pinned()
	x := mine.private
	mine.private = nil
	if x == nil {
		x = mine.shared.popHead()
	}
	if x == nil {
		x = p.steal(all)
	}
	unpin()
	if x == nil {
		x = p.newT()
	}
	return x
}

// steal looks at the tails of all chains and then among the victims. The caller
// is pinned.
func (p *Chained[T]) steal(all []chainedLocal[T]) *T {
	for i := range all {
		if x := all[i].shared.popTail(); x != nil {
			return x
		}
	}
	array := p.victims.Load()
	if array == nil {
		return nil
	}
	victims := *array
	k := pin() // pins nest; only the number is wanted
	unpin()
	if k < len(victims) {
		if x := victims[k].private; x != nil {
			victims[k].private = nil
			return x
		}
	}
	for i := range victims {
		if x := victims[i].shared.popTail(); x != nil {
			return x
		}
	}
	p.victims.CompareAndSwap(array, nil) // nothing left: spare the next Get the search
	return nil
}

// Collected is what a garbage collection does to the pool.
func (p *Chained[T]) Collected() {
	p.victims.Store(p.locals.take())
	p.collections.Add(1)
}

// Collections returns how many collections the pool has seen.
func (p *Chained[T]) Collections() int64 { return p.collections.Load() }
