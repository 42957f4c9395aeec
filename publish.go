package poolswap

import (
	"context"
	"unsafe"
)

// Publish replaces the current object: it takes an object from the pool as
// next, calls fill to make its content, and publishes it. current is the object
// that next will replace, or nil; fill may build on it and must not write it. fill
// has both only until it returns; it may Retain current. Publish returns the
// version of the published object: nonzero if and only if the object was
// published, even with an error.
//
// Publishers of one container take turns, so fill builds on the content of the
// publisher before it. Publish waits for its turn and, under Options.MaxLive, for
// an object, until ctx ends, and never for readers otherwise. If ctx has ended
// before the call, Publish returns its error without a call of fill; if ctx ends
// during fill, the object is published all the same. fill runs at most once.
//
// If fill returns an error, panics or calls runtime.Goexit, next is given back
// to the pool, the turn passes on, and the container is as it was. Publish
// returns the error unchanged. It also returns
//
//   - ErrConflict, if an Update took effect since fill was given current;
//   - ErrClosed, if the container or its pool is closed;
//   - ctx's error, if ctx ended before or while Publish waited for its turn;
//   - a *HeldError that matches ErrLimit, and ctx's error if ctx ended, if no
//     object came back under Options.MaxLive; at once if all objects that may
//     exist are current, since no wait can help;
//   - an *OverReleaseError with the version, if the replaced object had been
//     released too often and Options.Report is nil.
//
// reset, Discard and Report run after the turn has passed on, except the reset and
// factory calls that obtain next, which run while Publish holds the turn. A panic of
// theirs passes through Publish.
//
// It panics if ctx or fill is nil, and where it would publish a next that fill
// has published or released itself, or whose Ref fill has overwritten. A Publish
// or Close of the same container inside fill waits for itself until its ctx ends.
//
// ctx bounds the waits alone; a fill that has to end takes a ctx of its own. Once
// Publish has returned, next may have been replaced: copy figures of it inside
// fill.
func (c *Container[T, P]) Publish(ctx context.Context, fill func(next, current *T) error) (version uint64, err error) {
	if fill == nil {
		panic("poolswap: Publish with a nil fill")
	}
	version, err = c.slot.Publish(ctx, func(next, current unsafe.Pointer) error {
		return fill((*T)(next), (*T)(current))
	})
	return version, public(err)
}
