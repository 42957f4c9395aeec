// Package oldpool is sync.Pool as it was up to Go 1.12, written afresh from its
// description, to measure it beside the pool of today. For each P, the right to run Go
// code, it keeps one private object and some shared ones that other P's may take.
// Since Go 1.13 the shared ones need no lock, and outlive one garbage collection:
// sync.Pool is that pool.
//
// The runtime empties a sync.Pool at the start of a collection, with the world
// stopped. That hook belongs to it alone; here a cleanup does it soon after the
// end of the collection.
package oldpool

import (
	"runtime"
	"sync"
	"sync/atomic"
	_ "unsafe" // for go:linkname
	"weak"
)

// Locked is the pool: the shared objects of each P are a list under a mutex, and
// each collection drops everything.
//
// It is safe for any number of goroutines and must not be copied.
type Locked[T any] struct {
	newT        func() *T
	locals      atomic.Pointer[[]local[T]] // one for each P; a collection takes it away
	mu          sync.Mutex                 // held while locals are made
	collections atomic.Int64
}

type local[T any] struct {
	private *T // of the P alone
	mu      sync.Mutex
	shared  []*T     // guarded by mu; the P adds and takes at the end, others take there too
	_       [80]byte // keeps neighbours off the cache lines
}

// NewLocked returns an empty pool.
func NewLocked[T any](newT func() *T) *Locked[T] {
	p := &Locked[T]{newT: newT}
	emptyAfterCollection(weak.Make(p))
	return p
}

// sentinel is garbage from the start: that it is collected shows that there was
// a collection. It has a pointer so that it does not share its memory with
// other small objects, which could keep it alive.
type sentinel struct{ _ *byte }

func emptyAfterCollection[T any](pool weak.Pointer[Locked[T]]) {
	runtime.AddCleanup(new(sentinel), func(pool weak.Pointer[Locked[T]]) {
		if p := pool.Value(); p != nil {
			emptyAfterCollection(pool)
			p.locals.Store(nil)
			p.collections.Add(1)
		}
	}, pool)
}

// Collections returns how many collections the pool has seen.
func (p *Locked[T]) Collections() int64 { return p.collections.Load() }

// pin keeps the calling goroutine on its P, which no other goroutine runs on
// meanwhile, and returns the number of the P. sync.Pool is built on the same two
// functions.
//
//go:linkname pin runtime.procPin
func pin() int

//go:linkname unpin runtime.procUnpin
func unpin()

// pinned pins the caller to its P and returns the locals of that P and of all. The
// caller unpins.
func (p *Locked[T]) pinned() (mine *local[T], all []local[T]) {
	for {
		k := pin()
		if locals := p.locals.Load(); locals != nil && k < len(*locals) {
			return &(*locals)[k], *locals
		}
		unpin()
		p.grow(k)
	}
}

// grow makes locals with a place for P k. Those in an array that is too small are
// forgotten, as they are in sync.Pool.
func (p *Locked[T]) grow(k int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if locals := p.locals.Load(); locals == nil || k >= len(*locals) {
		fresh := make([]local[T], max(k+1, runtime.GOMAXPROCS(0)))
		p.locals.Store(&fresh)
	}
}

// Put passes x to the pool.
func (p *Locked[T]) Put(x *T) {
	mine, _ := p.pinned()
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
	mine, all := p.pinned()
	x := mine.private
	mine.private = nil
	unpin()
	if x != nil {
		return x
	}
	if x = mine.take(); x != nil {
		return x
	}
	for i := range all {
		if x = all[i].take(); x != nil {
			return x
		}
	}
	return p.newT()
}

// take takes a shared object.
func (l *local[T]) take() *T {
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
