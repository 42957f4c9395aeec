package poolswap

import (
	"context"
	"unsafe"
)

// Publish replaces the current object: it takes an object from the pool as
// next, calls fill to make its content, and publishes it. current is what next
// will replace, to build on, or nil; it must not be written. fill has both only
// until it returns; it may Retain current. Publish returns the version of the
// published object; it is not 0 if and only if the object was published, even
// beside an error.
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
//   - ctx's error, if ctx ended before or while Publish waited for its turn;
//   - a *HeldError that matches ErrLimit, and ctx's error if ctx ended, if no
//     object came back under Options.MaxLive; if all that may exist are current,
//     at once, since no wait can help;
//   - an *OverReleaseError with the version, if the object that was replaced had been
//     released too often and Options.Report is nil.
//
// reset, Discard and Report run after the turn has passed on, but for the reset
// of an object that Publish takes before fill, which has the turn like the
// factory. A panic of theirs passes through Publish.
//
// It panics if ctx or fill is nil, and where it would publish a next that fill
// has published or released itself, or whose Ref fill has overwritten. A Publish
// or Close of the same container inside fill waits for itself until its ctx ends.
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
