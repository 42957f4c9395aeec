package poolswap

import (
	"context"
	"iter"
)

// Version returns the number of the current object, or 0 if the container is
// empty or closed. Each publication has a number, by Publish, Update or
// NewContainer. The numbers are unique among the containers of one pool and
// grow along each, not always by one. They mean nothing outside the process.
//
// An Acquire after Version may return a newer object. For a version and an
// object that belong together, call [Container.VersionOf] with the object that you
// hold. Version is one atomic load.
func (c *Container[T, P]) Version() uint64 { return c.slot.Version() }

// VersionOf returns the version of obj, which the caller holds: from Acquire,
// Retain or a [Reader], in WithAcquire or Versions, or as current in fill. For an
// object that the caller owns, from Get or as next in Publish, it is the version
// under which the object was last current. It is 0 if the object never was
// current, or was given back unpublished or discarded since: its content may be
// half filled. VersionOf(nil) is 0.
//
// It panics if obj is in the pool, belongs to another pool or is a copy. An
// object that was released and is in use again cannot be told from one that is
// held.
func (c *Container[T, P]) VersionOf(obj *T) uint64 {
	return c.slot.VersionOf(engineObject(obj, c.slot.Offset()))
}

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

// Changed is the form of [Container.Wait] for a select, and the advanced one: it
// returns a channel that is closed if the current version is above after or the
// container is closed, and otherwise at the next publication or when the container
// closes. Emptying the container closes no channel. All callers between two
// publications get one channel; without a caller, a publication pays one load for
// it. In a loop call Wait as well: it returns the version, and ErrClosed, after which
// Changed would make the loop spin.
func (c *Container[T, P]) Changed(after uint64) <-chan struct{} { return c.slot.Changed(after) }
