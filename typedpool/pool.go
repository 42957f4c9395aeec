package typedpool

import "sync"

// A Pool is a set of temporary objects of type T: a [sync.Pool] that hands out *T
// in place of any.
//
// The zero Pool is ready to use where the zero T is: it makes objects with
// new(T). [New] and [NewWithOptions] make a Pool whose objects begin otherwise.
//
// Get passes ownership of an object to the caller, and Put passes it back. After
// Put the caller must not read, write or put the object. An ordinary build does
// not check this; the debug build in the package comment does.
//
// A Pool is safe for use by any number of goroutines. It is good for objects
// that are costly to allocate, held briefly and all alike. It is bad for
// objects that own something the garbage collector does not free (a file, a
// lock, a goroutine), because a pool drops objects silently. Do not rely on
// getting an object back: two garbage collections without a Get empty the pool.
//
// A Pool must not be copied after first use; go vet sees the copy.
//
// A call to Put(x) synchronizes before the Get that returns that x, and the
// return of the New function synchronizes before the Get that returns its
// object.
type Pool[T any] struct {
	pool sync.Pool

	// keep decides in Put whether the object stays; nil keeps every object.
	// Written by the constructor only.
	keep func(*T) bool
}

// New returns a Pool that calls newT for an object when it has none. newT may
// be called by many goroutines at the same time, and must not return nil: a Get
// that is given nil panics.
//
// New panics if newT is nil. The zero Pool is the pool without a function.
func New[T any](newT func() *T) *Pool[T] {
	if newT == nil {
		panic("typedpool: New with a nil function (use a zero Pool for objects that begin as their zero value)")
	}
	return newPool(newT, nil)
}

// newPool wraps newT so that the sync.Pool never returns nil, and Get only has to
// compare the type.
func newPool[T any](newT func() *T, keep func(*T) bool) *Pool[T] {
	p := &Pool[T]{keep: keep}
	p.pool.New = func() any {
		x := newT()
		if x == nil {
			panic("typedpool: Get of an object for which the New function returned nil")
		}
		return x
	}
	return p
}

// Get takes an object out of the pool, or makes one if there is none, and passes
// it to the caller. An object from the pool is as its last owner, and the Reset
// function if there is one, left it.
//
// Get allocates only when it makes an object. A panic of the New function
// propagates.
func (p *Pool[T]) Get() *T {
	if debugging {
		return p.debugGet()
	}
	if x, ok := get(poolGet, &p.pool).(*T); ok {
		return x
	}
	return new(T)
}

// Put passes x to the pool. The caller must own x and must not use it or put it
// again. x need not come from the pool. Put(nil) does nothing.
//
// With options, Put first asks whether x is worth keeping and resets it. If the
// Size or Reset function panics, x is lost to the garbage collector, the pool
// stays usable and the panic propagates.
//
// Put does not allocate, except when the queues inside sync.Pool grow.
func (p *Pool[T]) Put(x *T) {
	if x == nil {
		return
	}
	if debugging {
		p.debugPut(x)
		return
	}
	if p.keep != nil {
		if !ask(p.keep, x) {
			return
		}
	}
	put(poolPut, &p.pool, x)
}
