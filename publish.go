package poolswap

import (
	"context"
	"errors"
	"iter"
	"unsafe"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Publish replaces the current object: it takes an object from the pool as
// next, calls fill to make its content, and publishes it. current is what next
// will replace, to build on, or nil; it must not be written. fill has both only
// until it returns; it may Retain current. Publish returns the version of the published
// object; it is not 0 if and only if the object was published, even beside an
// error.
//
// Publishers of one container take turns, so fill builds on what the one before
// it published. Publish waits for its turn and, under Options.MaxLive, for an
// object, until ctx ends, and never for readers otherwise. With a ctx that has
// ended it returns ctx's error and fill is not called; one that ends during fill
// does not prevent the publication. fill runs at most once.
//
// If fill returns an error, panics or calls runtime.Goexit, next is given back
// to the pool, the turn passes on, and the container is as it was. Publish
// returns the error unchanged. It also returns
//
//   - ErrConflict, if an Update took effect since fill was given current;
//   - ErrClosed, if the container or its pool is closed;
//   - ctx's error, if ctx ended while Publish waited;
//   - a *HeldError that matches ErrLimit, and ctx's error if ctx ended, if no
//     object came back under Options.MaxLive; if all that may exist are current,
//     at once, since no wait can help;
//   - an *OverRelease with the version, if the object that was replaced had been
//     released too often and Options.Report is nil.
//
// reset, Discard and Report run after the turn has passed on, but for the reset
// of an object that Publish takes before fill, which has the turn like the
// factory. A panic of theirs passes through Publish.
//
// It panics if ctx or fill is nil, and where it would publish a next that fill has
// published or released itself, or whose Ref fill has overwritten. A Publish or Close of the same container inside fill
// waits for itself until its ctx ends.
//
// ctx bounds the waits alone; a fill that has to end takes a ctx of its own. Once
// Publish has returned, next may have been replaced: what is to be reported of
// it is copied inside fill.
func (c *Container[T, P]) Publish(ctx context.Context, fill func(next, current *T) error) (version uint64, err error) {
	if fill == nil {
		panic("poolswap: Publish with a nil fill")
	}
	version, err = c.slot.Publish(ctx, func(next, current unsafe.Pointer) error {
		return fill((*T)(next), (*T)(current))
	})
	return version, public(err)
}

// Version returns the number of the current object, or 0 if the container is
// empty or closed. Each publication has a number, by Publish, Update or
// NewContainer. The numbers are unique among the containers of one pool and
// grow along each, not always by one. They mean nothing outside the process.
//
// An Acquire after Version may return a newer object. For a version and an
// object that belong together, ask [Container.VersionOf] of what you hold.
// Version is one atomic load.
func (c *Container[T, P]) Version() uint64 { return c.slot.Version() }

// VersionOf returns the version of obj, which the caller holds: from Acquire,
// Retain or a [Reader], in WithAcquire or Versions, or as current in fill. Of an object that the caller owns, from Get or as next in Publish,
// it is the version under which the object was last current, and 0 if it never
// was, or if it was given back unpublished or discarded since: its content may
// be half filled. VersionOf(nil) is 0.
//
// It panics if obj is in the pool, belongs to another pool or is a copy. An
// object that was released and is in use again cannot be told from one that is
// held.
func (c *Container[T, P]) VersionOf(obj *T) uint64 {
	return c.slot.VersionOf(engineObject(obj, c.slot.Offset()))
}

// Changed returns a channel for a select: it is closed if the current version is
// above after or the container is closed, and otherwise at the next publication
// or when the container closes. Emptying the container closes no channel. All
// who ask between two publications get one channel; a publication for which
// nobody asked costs one load. In a loop call [Container.Wait] as well: it returns
// the version, and ErrClosed, after which Changed would make the loop spin.
func (c *Container[T, P]) Changed(after uint64) <-chan struct{} { return c.slot.Changed(after) }

// Wait returns a version above after that was current during the call, at once
// if there is one. Wait(ctx, 0) waits for the first. It returns ctx's error if
// ctx ends first or has ended, and ErrClosed if the container is closed.
//
//	for version := uint64(0); ; {
//		if version, err = tables.Wait(ctx, version); err != nil {
//			return err
//		}
//		use(version)
//	}
//
// Versions between two calls may go unseen. Wait(ctx, c.Version()) waits for the
// next version or for Close. It panics if ctx is nil.
func (c *Container[T, P]) Wait(ctx context.Context, after uint64) (uint64, error) {
	return c.slot.Wait(ctx, after)
}

// Versions yields the current object with its version, and then each newer one.
// A body that takes long misses those in between. The object is held for the
// body of the loop alone and must not be kept or released; with iter.Pull it is
// held until next or stop is called. The loop ends when ctx ends or the
// container closes. It panics if ctx is nil.
func (c *Container[T, P]) Versions(ctx context.Context) iter.Seq2[uint64, *T] {
	if ctx == nil {
		panic("poolswap: Versions with a nil Context")
	}
	c.slot.Check("Versions")
	return func(yield func(uint64, *T) bool) {
		for after, more := uint64(0), true; more; {
			if _, err := c.Wait(ctx, after); err != nil {
				return
			}
			c.WithAcquire(func(obj *T) {
				if obj != nil { // else emptied or closed since
					after = c.VersionOf(obj)
					more = yield(after, obj)
				}
			})
		}
	}
}

// Retain takes one more reference to obj, which the caller holds, and returns
// obj. Each reference is released once. It is for handing one version to several
// goroutines, or for keeping it longer than who handed it out. It never blocks.
// Retain(nil) is nil.
//
// It panics if obj is in the pool, is not published, belongs to another pool or
// is a copy. An object that was released and is in use again cannot be told from
// one that is held; see Release.
func (c *Container[T, P]) Retain(obj *T) *T {
	c.slot.Retain(unsafe.Pointer(obj))
	return obj
}

// Close empties the container for good and waits until everything that it
// published is back in the pool or discarded. From its beginning on, Acquire and
// Load return nil, Publish and Wait return ErrClosed, Versions ends, and Update
// of an object panics. A fill that is running still ends; its object is given
// back. At the end of a program close the pool, which closes its containers.
//
// If ctx ends first, Close returns a *HeldError that says what is still held;
// the container stays closed and Close can be called again. Close is idempotent
// and safe for concurrent use. Without Options.Report its error also matches an
// *OverRelease if the last object had been released too often.
//
// A Close inside fill, inside the body of a Versions loop, in reset or in
// Discard waits for itself. So does one on a goroutine that holds an object of
// the container. An idle [Reader] is waited for. It panics if ctx is nil.
func (c *Container[T, P]) Close(ctx context.Context) error {
	excess, err := c.slot.Close(ctx)
	return closed(err, excess)
}

// Drain waits until every object that was replaced before the call is no longer
// held, and is reset or discarded. Objects that are replaced later are not
// waited for. If ctx ends first, it returns a *HeldError that says what is held.
//
// A Drain in reset or Discard waits for itself, and so does one on a goroutine
// that holds an object that was replaced, as fill and the body of a Versions loop
// can. Each look costs time in proportion to the live objects, one look for each
// object that comes back. It panics if ctx is nil.
func (p *Pool[T, P]) Drain(ctx context.Context) error {
	return public(p.engine.Drain(ctx))
}

// Close closes every container of the pool, waits until all objects are back,
// and discards them. From its beginning on, Get and NewContainer panic, TryGet
// and Publish return ErrClosed, and an object that comes back is discarded.
//
// It waits for references, for objects that writers own, and for reset and
// Discard. It does not wait for lost objects (see Stats.Lost), nor for what was
// current in a container that the program dropped. Free objects beyond the
// spares count as collected.
//
// If ctx ends first, Close returns a *HeldError; the pool stays closed and Close
// can be called again. It is idempotent and safe for concurrent use. What is
// said at [Container.Close] of an over-release and of waiting for itself holds
// here too. It panics if ctx is nil.
func (p *Pool[T, P]) Close(ctx context.Context) error {
	excesses, err := p.engine.Close(ctx)
	return closed(err, excesses...)
}

// closed is the result of Close: what ended the wait, and over-releases if there
// are some.
func closed(err error, excesses ...error) error {
	err = public(err)
	for _, excess := range excesses {
		if excess != nil {
			err = errors.Join(err, public(excess))
		}
	}
	return err
}

// public turns an error of the engine into the one that is documented.
func public(err error) error {
	switch e := err.(type) { //nolint:errorlint // what fill returns comes back unchanged, whatever it wraps
	case *refcount.HeldError:
		held := HeldError(*e)
		return &held
	case *refcount.Excess:
		over := OverRelease(*e)
		return &over
	}
	return err
}
