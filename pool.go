package poolswap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"unsafe"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Pool holds objects for reuse: [Container.Publish] takes one, has it filled and
// makes it current; the object comes back by itself when it has been replaced and
// its last reader has released it. Get and [Container.Update] are the two halves of
// Publish, for a writer that needs them apart.
//
// The pool owns free objects and those that are current or still held. Get
// passes ownership of an object to the caller, until Update or Release passes
// it on. The factory and reset functions, and the hooks in [Options], run with
// no lock held: the factory on the goroutine that calls Get; reset on a writer
// (in Get, Publish, Update, or Release of an object that was not published) or on the
// sweeper, a goroutine that runs only while objects that readers drained await
// their reset. Readers never run them.
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
	engine refcount.Pool
	offset uintptr // of Ref in T; constant
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
// Options.Report for where the panic goes. A factory that panics costs nothing;
// Get panics if the factory returns nil or an object that is in use.
//
// NewPool panics if factory is nil, or if T embeds Ref through a pointer. The
// first pool of a process asks the kernel for membarrier, which can take tens
// of milliseconds.
func NewPool[T any, P Object[T]](factory func() *T, reset func(*T) bool) *Pool[T, P] {
	return NewPoolWithOptions[T, P](factory, reset, Options[T]{})
}

// NewPoolWithOptions is [NewPool] with options. It also panics if Spares is
// below NoSpares or MaxLive or HeldTooLong is negative.
func NewPoolWithOptions[T any, P Object[T]](factory func() *T, reset func(*T) bool, options Options[T]) *Pool[T, P] {
	typ := reflect.TypeFor[T]()
	switch {
	case factory == nil:
		panic(fmt.Sprintf("poolswap: NewPool of %v with a nil factory", typ))
	case options.Spares < NoSpares:
		panic(fmt.Sprintf("poolswap: NewPool of %v with Options.Spares %d (NoSpares, %d, keeps none)", typ, options.Spares, NoSpares))
	case options.HeldTooLong < 0:
		panic(fmt.Sprintf("poolswap: NewPool of %v with Options.HeldTooLong %v (0 is no limit)", typ, options.HeldTooLong))
	case options.MaxLive < 0:
		panic(fmt.Sprintf("poolswap: NewPool of %v with Options.MaxLive %d (0 is no limit)", typ, options.MaxLive))
	}
	spares, maxSpares := options.Spares, options.Spares
	switch options.Spares {
	case 0:
		spares, maxSpares = DefaultSpares, refcount.MostFollowing()
	case NoSpares:
		spares, maxSpares = 0, 0
	}
	offset := offsetOfRef[T]()
	config := refcount.Config{
		TypeName:  "*" + typ.String(),
		Factory:   func() *refcount.Object { return engineObject(factory(), offset) },
		Spares:    spares,
		MaxSpares: maxSpares,
		MaxLive:   options.MaxLive,
		Portable:  options.Portable,

		HeldTooLong: options.HeldTooLong,
	}
	if reset != nil {
		config.Reset = func(o *refcount.Object) bool { return reset(userObject[T](o, offset)) }
	}
	if debugBuild && options.Poison != nil {
		config.Reset = poisoned(config.Reset, func(o *refcount.Object) { options.Poison(userObject[T](o, offset)) })
	}
	if discard := options.Discard; discard != nil {
		config.Discard = func(o *refcount.Object) { discard(userObject[T](o, offset)) }
	}
	if report := options.Report; report != nil {
		config.Reports = &refcount.Reports{
			Leak: func(held int, by []refcount.Holder) {
				report(&LeakError{config.TypeName, held, holders[Holder](by)})
			},
			HookPanic: func(value any, stack []byte) {
				report(&HookPanicError{"reset or Discard of a " + config.TypeName, value, stack})
			},
			OverRelease: func(e refcount.OverReleaseError) { report(public(&e)) },
			FenceFailed: report,
			HeldTooLong: func(e *refcount.HeldTooLongError) {
				report(&HeldTooLongError{e.Type, e.Version, e.Age, e.References, holders[Holder](e.Holders)})
			},
		}
	}
	pool := &Pool[T, P]{offset: offset}
	pool.engine.Init(config)
	if os.Getenv("POOLSWAP_TRACE") == "1" {
		pool.Trace(-1)
	}
	return pool
}

// poisoned returns reset with a call of poison behind it.
func poisoned(reset func(*refcount.Object) bool, poison func(*refcount.Object)) func(*refcount.Object) bool {
	return func(o *refcount.Object) bool {
		if reset != nil && !reset(o) {
			return false
		}
		poison(o)
		return true
	}
}

// Get returns an object that belongs to the caller alone: a spare if there is
// one, else an object that awaits its reset, which Get resets itself, else a new
// one from the factory. The caller fills it and then either publishes it with
// Update or gives it back with Release.
//
// It panics where TryGet returns an error, or if the factory misbehaves. It
// never waits for readers. [Container.Publish] takes its object by itself.
func (p *Pool[T, P]) Get() *T {
	p.engine.Check("Get")
	obj, err := p.engine.Get()
	switch {
	case errors.Is(err, ErrClosed):
		panic("poolswap: Get from the closed pool of " + p.engine.TypeName)
	case errors.Is(err, ErrLimit):
		s := p.Stats()
		panic(fmt.Sprintf("poolswap: Get from the pool of %s: %d objects are live, as many as Options.MaxLive allows, and none is free: %d are current, %d were replaced and are held by readers, %d are being reset or discarded (MaxLive too small, or a forgotten Release? TryGet returns an error instead)",
			p.engine.TypeName, p.engine.MaxLive, s.Current, s.Retired, s.Resetting))
	}
	return userObject[T](obj, p.offset)
}

// TryGet is Get that returns [ErrLimit] if Options.MaxLive objects exist and
// none is free, and [ErrClosed] if the pool is closed. [Container.Publish] waits
// for an object instead.
func (p *Pool[T, P]) TryGet() (*T, error) {
	p.engine.Check("TryGet")
	obj, err := p.engine.Get()
	if err != nil {
		return nil, err
	}
	return userObject[T](obj, p.offset), nil
}

// Release is [Container.Release] where there is no container, under its name in the
// interface that was published first: it gives back an object that Get returned and
// that was not published, and resets it here. Release(nil) does nothing.
func (p *Pool[T, P]) Release(obj *T) {
	p.engine.Check("Release")
	p.engine.Release(unsafe.Pointer(obj), p.offset)
}

// Trim drops the spares, as after a peak, or at the end of a program if
// Options.Discard has something to close. Objects that are current, held, or
// await their reset are not touched.
func (p *Pool[T, P]) Trim() {
	p.engine.Check("Trim")
	p.engine.Trim()
}

// Drain waits until every object that was replaced before the call is no longer
// held, and is reset or discarded. It does not wait for objects that are replaced
// later. If ctx ends first, it returns a *HeldError with the versions that are held.
//
// A Drain in reset or Discard waits for itself. So does one on a goroutine that
// holds a replaced object, as fill and the body of a Versions loop can. Drain looks
// at all live objects once, and again for each object that comes back. It panics if
// ctx is nil.
func (p *Pool[T, P]) Drain(ctx context.Context) error {
	return public(p.engine.Drain(ctx))
}

// Close closes every container of the pool, waits until all objects are back,
// and discards them. From its beginning on, Get and NewContainer panic, TryGet
// and Publish return ErrClosed, and an object that comes back is discarded.
//
// It waits for references, for objects that writers own, and for reset and
// Discard. It does not wait for lost objects (see Stats.Lost), nor for the current
// object of a container that the program dropped. Free objects beyond the spares
// are left to the garbage collector: they may stay in Stats.Live until it has run
// twice, and count as collected.
//
// If ctx ends first, Close returns a *HeldError; the pool stays closed and Close
// can be called again. It is idempotent and safe for concurrent use. It returns
// over-releases and waits for itself where [Container.Close] does. It panics if ctx
// is nil.
func (p *Pool[T, P]) Close(ctx context.Context) error {
	excesses, err := p.engine.Close(ctx)
	return closed(err, excesses...)
}

// Refs returns how many references to obj are outstanding, for tests and
// debugging: the value can be out of date when it is returned. It is 0 for nil
// and for an object that was never handed out or published, and negative after
// a Release too many. It panics if obj belongs to another pool or is a copy.
func (p *Pool[T, P]) Refs(obj *T) int {
	p.engine.Check("Refs")
	return p.engine.Refs(engineObject(obj, p.offset))
}
