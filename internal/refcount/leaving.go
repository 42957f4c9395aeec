package refcount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// This file is how a goroutine waits for objects to come back. An object that
// leaves a container, or its owner who gives it back, is marked until it was
// reset or discarded. A goroutine that waits looks at the marks of all objects
// that the registry knows, and again after each wake-up.

// leavesContainer marks an object that is about to be swapped out.
func (p *Pool) leavesContainer(o *Object) {
	counters := o.counters.Load()
	if counters == nil { // its Ref was overwritten: retire gives it up
		return
	}
	if phaseOf(counters.State.Load()) == live { // not live: a forged container's, which retire refuses
		p.stats.retired.Add(1) // (G4)
		p.takenOut(counters)
	}
}

// takenOut marks an object that the caller takes out of a container or the free
// list. It repeats only because a giveBack that has lost the object, which fill
// had given away, marked it in vain or takes that mark away.
func (p *Pool) takenOut(counters *stripe.Counters) {
	for {
		if _, ok := p.leaves(counters, counters.Publication.Leaving.Load()); ok {
			return
		}
	}
}

// leaves marks an object that leaves a container or its owner. It returns false,
// and marks nothing, if the mark is not was any more: then a goroutine that the
// caller raced with has taken the object.
func (p *Pool) leaves(counters *stripe.Counters, was uint64) (mark uint64, ok bool) {
	// (D1) Mark, before the step by which the object leaves: the swap (U2), or
	// (B1), or under the mutex of the free list the pop before Discard. So at no
	// moment is an object on its way without a mark, and a Drain or Close that
	// looks after that step sees the mark or the object's end. The marks are
	// numbers in one order, so that Drain can leave out what leaves later.
	mark = p.leavings.Next()
	if !counters.Publication.Leaving.CompareAndSwap(was, mark) { // (D1)
		return 0, false
	}
	counters.Publication.Left.Store(p.now()) // (D1)
	return mark, true
}

// arrives removes the mark of an object that is not on its way any more, unless
// the object has left once more: mark is the one that it left with.
func arrives(counters *stripe.Counters, mark uint64) {
	// (D2) Remove the mark, after reset or Discard has returned. For an object
	// that stays in the pool this is under the mutex of the free list, together
	// with the push or the step to private, so that Pool.Close never finds it
	// unmarked and in neither place.
	counters.Publication.Leaving.CompareAndSwap(mark, 0) // (D2)
}

// now is the pool's clock, in nanoseconds.
func (p *Pool) now() int64 { return int64(time.Since(p.begun)) }

// leftFor returns how long ago a marked object left.
func (p *Pool) leftFor(counters *stripe.Counters) time.Duration {
	return time.Duration(max(0, p.now()-counters.Publication.Left.Load()))
}

// getWithin is Get that waits at the limit, until ctx ends or s closes.
func (s *Slot) getWithin(ctx context.Context) (*Object, error) {
	const op = "Publish"
	counts := func(e *entry) bool { return e.phase != lost } // towards the limit
	p := s.pool
	next, err := p.Get()
	if !errors.Is(err, ErrLimit) {
		return next, err
	}
	signal := p.back.next()
	defer func() { p.back.forget(signal) }()
	for {
		if next, err := p.Get(); !errors.Is(err, ErrLimit) {
			return next, err
		}
		if _, closed := s.look(); closed {
			return nil, ErrClosed
		}
		if p.allCurrent() {
			return nil, p.held(op, ErrLimit, counts)
		}
		ended := seam.Wait(ctx, signal, s.closing)
		if ended == nil {
			ended = ctx.Err() // at the moment of the wake-up
		}
		if ended != nil {
			return nil, p.held(op, fmt.Errorf("%w: %w", ErrLimit, ended), counts)
		}
		signal = p.back.next()
	}
}

// allCurrent reports whether at some moment during the call as many objects as
// may exist were current, so that none can come back by itself. Published is
// loaded first, and a swap counts what it takes out before what it puts in: then
// the difference is at most the number of those that were current at any moment
// between the two loads, as when live is loaded, and an Update under way is not
// counted twice.
func (p *Pool) allCurrent() bool {
	published := p.stats.published.Load()
	live := int64(p.stats.live.Load())
	current := published - p.stats.retired.Load()
	return live >= int64(p.MaxLive) && live <= int64(current)
}

// Drain waits until what was replaced before the call is not held any more and
// was reset or discarded.
func (p *Pool) Drain(ctx context.Context) error {
	const op = "Drain"
	checkContext(ctx, op)
	p.Check(op)
	last := p.leavings.Last()
	return p.await(ctx, op, nil, func(e *entry) bool {
		return e.mark != 0 && e.mark <= last && e.phase != lost
	})
}

// await waits until pending, if it is not nil, returns false, and then no object
// in the registry is as waited says.
func (p *Pool) await(ctx context.Context, op string, pending func() bool, waited func(*entry) bool) error {
	done := func() bool {
		return (pending == nil || !pending()) && !p.registry.any(waited)
	}
	if done() { // without asking, which allocates
		return nil
	}
	signal := p.back.next()
	defer func() { p.back.forget(signal) }()
	for {
		if done() {
			return nil
		}
		if err := seam.Wait(ctx, signal, nil); err != nil {
			return p.held(op, err, waited)
		}
		signal = p.back.next()
	}
}
