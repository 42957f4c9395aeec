package poolswap

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/poolswap/poolswap/internal/stripe"
)

// ErrLimit is what TryGet returns when Options.MaxLive objects exist and none
// is free: readers still hold the old ones (Stats.Retired), or one is being
// reset or discarded (Stats.Resetting). Try again later.
var ErrLimit = errors.New("poolswap: the pool's limit of live objects is reached")

// Pool holds objects for reuse: a writer takes one with Get, fills it and
// publishes it with [Container.Update]; it comes back by itself when it has
// been replaced and its last reader has let go.
//
// The pool owns free objects and those that are current or still held. Get
// passes ownership of an object to the caller, until Update or Release passes
// it on. The factory and reset functions, and the hooks in [Options], run with
// no lock held: the factory on the goroutine that calls Get; reset on a writer
// (in Get, Update, or Release of an object that was not published) or on the
// sweeper, a goroutine that runs only while objects that readers drained await
// their reset. No reader ever runs them.
//
// A Pool is safe for any number of goroutines, and any number of containers
// may share one. It must not be copied. It is made for few large objects: Get
// takes a mutex. For many small short-lived ones use package typedpool or
// sync.Pool.
//
// In the terms of the Go memory model, everything a reader does before it
// releases an object, and everything a writer does before it gives one back,
// synchronizes before the reset and the Get that see that object next.
type Pool[T any, P Object[T]] struct {
	recycler recycler
	offset   uintptr // of Ref in T; constant
}

// NewPool returns a pool of the objects that factory makes. P is always *T and
// is inferred.
//
// Before an object is used again reset is called on it, to empty it and keep
// its memory; when it returns false the object is discarded. A nil reset
// keeps every object as it is. A reset must not assign to the whole object, as
// in *t = T{}, which would overwrite its Ref: that panics.
//
// A reset that panics, or calls runtime.Goexit, costs that one object; see
// Options.Report for who sees the panic. A factory that panics costs nothing;
// one that returns nil, or an object that is in use, makes Get panic.
//
// NewPool panics if factory is nil, or if T embeds Ref through a pointer. The first
// pool of a process asks the kernel for membarrier, which can take tens of
// milliseconds.
func NewPool[T any, P Object[T]](factory func() *T, reset func(*T) bool) *Pool[T, P] {
	return NewPoolWithOptions[T, P](factory, reset, Options[T]{})
}

// NewPoolWithOptions is [NewPool] with options. It panics, beside what NewPool
// panics for, if Spares is below NoSpares or MaxLive is negative.
func NewPoolWithOptions[T any, P Object[T]](factory func() *T, reset func(*T) bool, options Options[T]) *Pool[T, P] {
	typ := reflect.TypeFor[T]()
	switch {
	case factory == nil:
		panic(fmt.Sprintf("poolswap: NewPool of %v with a nil factory", typ))
	case options.Spares < NoSpares:
		panic(fmt.Sprintf("poolswap: NewPool of %v with Options.Spares %d (NoSpares, %d, keeps none)", typ, options.Spares, NoSpares))
	case options.MaxLive < 0:
		panic(fmt.Sprintf("poolswap: NewPool of %v with Options.MaxLive %d (0 is no limit)", typ, options.MaxLive))
	}
	spares := options.Spares
	switch spares {
	case 0:
		spares = DefaultSpares
	case NoSpares:
		spares = 0
	}
	offset := offsetOfRef[T]()
	pool := &Pool[T, P]{offset: offset}
	p := &pool.recycler
	p.factory = func() *Ref { return refOf(factory(), offset) }
	if reset != nil {
		p.reset = func(ref *Ref) bool { return reset(objectOf[T](ref, offset)) }
	}
	if discard := options.Discard; discard != nil {
		p.discard = func(ref *Ref) { discard(objectOf[T](ref, offset)) }
	}
	p.report = options.Report
	p.typeName = "*" + typ.String()
	p.portable = options.Portable
	p.maxLive = options.MaxLive
	p.spares.limit = spares
	p.spares.clean = make([]*Ref, 0, spares)
	p.sweepFunc = p.sweep
	p.self = p
	if !p.portable {
		stripe.Asymmetric() // ask the kernel here rather than in the first Get
	}
	return pool
}

// Get returns an object that belongs to the caller alone, who fills it and
// then either publishes it with Update or gives it back with Release: a spare
// if there is one, else an object that a reader handed over and that Get
// resets itself, else a new one from the factory.
//
// It panics where TryGet returns an error, or if the factory misbehaves. It
// never waits for readers.
func (p *Pool[T, P]) Get() *T {
	p.check("Get")
	ref, err := p.recycler.get()
	if err != nil {
		s := p.Stats()
		panic(fmt.Sprintf("poolswap: Get from the pool of %s: %d objects are live, as many as Options.MaxLive allows, and none is free: %d are held by readers, %d are being reset or discarded (a forgotten Release? TryGet returns an error instead)",
			p.recycler.typeName, p.recycler.maxLive, s.Retired, s.Resetting))
	}
	return objectOf[T](ref, p.offset)
}

// TryGet is Get that returns [ErrLimit] when Options.MaxLive objects exist and
// none is free.
func (p *Pool[T, P]) TryGet() (*T, error) {
	p.check("TryGet")
	ref, err := p.recycler.get()
	return objectOf[T](ref, p.offset), err
}

// Release gives back an object that Get returned and that was not published.
// The caller resets it here. For an object that was acquired from a container
// it does what [Container.Release] does. Release(nil) does nothing.
func (p *Pool[T, P]) Release(obj *T) {
	p.check("Release")
	p.recycler.release(unsafe.Pointer(obj), p.offset)
}

// Trim drops the spares, as after a peak, or at the end of a program, when
// Options.Discard has something to close. Objects that are current, held, or
// await their reset are not touched.
func (p *Pool[T, P]) Trim() {
	p.check("Trim")
	p.recycler.trim()
}

// Refs returns how many references to obj are outstanding, for tests and
// debugging: the value can be out of date when it is returned. It is 0 for nil
// and for an object that was never handed out or published, and negative after
// a Release too many. It panics if obj belongs to another pool or is a copy.
func (p *Pool[T, P]) Refs(obj *T) int {
	p.check("Refs")
	ref := refOf(obj, p.offset)
	if ref == nil {
		return 0
	}
	counters := ref.counters.Load()
	if counters == nil || phaseOf(counters.State.Load()) == unborn {
		return 0
	}
	p.recycler.checkOwn(ref, "Refs")
	return counters.Outstanding()
}

// check panics for a Pool that NewPool did not make, such as a copy.
func (p *Pool[T, P]) check(op string) {
	if p.recycler.self != &p.recycler {
		panicNotMade(op, "Pool", "NewPool", p.recycler.self != nil)
	}
}
