package refcount

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// This file is Publish: Get, a function of the user's, and put, by one publisher
// of a container after the other.

// Publish takes an object from the pool, has fill make its content from that of
// the current one, and publishes it. fill gets the user's objects. The version
// is not 0 if and only if the object was published.
func (s *Slot) Publish(ctx context.Context, fill func(next, current unsafe.Pointer) error) (version uint64, err error) {
	checkContext(ctx, "Publish")
	s.Check("Publish")
	if err := s.takeTurn(ctx); err != nil {
		s.pool.stats.failed.Add(1)
		return 0, err
	}
	w := publishing{slot: s}

	// The last of these runs first, and each runs even if fill or one of them
	// panics or calls Goexit.
	//
	// (V6) Pass the turn, when next and current are given back and before anything
	// that may run a function of the user's. The next publisher finds the container
	// as this call leaves it; it does not wait for a slow hook, and a hook that
	// panics does not keep the turn.
	defer w.settle(&err)
	defer s.turn.Pass() // (V6)
	defer w.takeBack()
	if err := w.begin(ctx); err != nil {
		return 0, err
	}
	if err := fill(unsafe.Add(unsafe.Pointer(w.next), -int(s.offset)), w.current); err != nil {
		return 0, err
	}
	err = w.publish()
	return w.version, err
}

// takeTurn waits for the turn to publish.
func (s *Slot) takeTurn(ctx context.Context) error {
	// (V1) Take the turn. It is held while fill runs, so a publisher builds on
	// the publication before it. Update does not take it: (V3) is for
	// that. A publisher that waits ends with its ctx, or when the slot closes.
	taken, err := s.turn.Take(ctx, s.closing) // (V1)
	switch {
	case err != nil:
		return err
	case !taken:
		return ErrClosed
	}
	if err := ctx.Err(); err != nil { // it ended at that moment, or before
		s.turn.Pass() // (V6)
		return err
	}
	return nil
}

// publishing is a call of Publish that has the turn.
type publishing struct {
	slot     *Slot
	next     *Object          // fill fills it; of this goroutine's until it is published, then nil
	counters *stripe.Counters // of next
	owned    uint64           // the state word of next, as Get left it
	current  unsafe.Pointer   // fill reads it; a reference of this goroutine's, or nil
	swaps    uint64           // how often the slot was swapped when current was taken
	version  uint64           // of next once it is published, else 0

	// To be settled without the turn.
	object     *Object
	retirement retirement
	tracing    tracing
}

// begin takes next from the pool and a reference to the current object.
func (w *publishing) begin(ctx context.Context) error {
	s := w.slot
	next, err := s.getWithin(ctx)
	if err != nil {
		return err
	}
	// next is private, so its state stays as it is now unless fill gives it away.
	// Both steps that end the ownership, (U1) and (B1), start from this very state,
	// generation included. The counters are noted in case fill overwrites the Ref.
	w.next, w.counters = next, next.counters.Load()
	w.owned = w.counters.State.Load()

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	// (V2) Hold the current object and note the number of swaps. The mutex keeps a
	// swap from coming between. If (V3) finds the number unchanged, the
	// object that fill read was current all the time, and (U2) swaps it out. It is a
	// reference and not a pointer alone, because an Update may replace the object
	// while fill still reads it. Acquire takes no lock, so it may run under this one.
	_, w.current = Acquire(s) // (V2)
	w.swaps = s.swaps         // (V2)
	return nil
}

// publish makes next current and retires the object that it replaced.
func (w *publishing) publish() error {
	const op = "Publish"
	s := w.slot
	if w.next.counters.Load() != w.counters {
		s.pool.panicOverwrittenBefore(op)
	}
	w.tracing = s.pool.beginTracing()
	old, version, err := s.put(w.next, w.owned, w.swaps, w.tracing.traced)
	if err != nil {
		s.pool.cancelTracing(w.tracing)
	}

	// A put that fails leaves the state alone, so another state is the doing of
	// fill, whatever the error: a conflict with an Update of next in fill, too.
	if w.counters.State.Load() != w.owned && err != nil {
		w.next.panicMisuse(op, "that fill published or gave back (fill only fills next)")
	}
	if err != nil {
		return err
	}
	w.next, w.version = nil, version // it belongs to the container: takeBack leaves it

	// The own reference goes before the retirement. With no other reader the
	// object then drains in retire, and this goroutine resets it. The other way
	// round this release would drain it, and the sweeper would reset it.
	w.releaseCurrent()
	if old != nil {
		w.object, w.retirement = old, s.retire(old, op)
	}
	return nil
}

// releaseCurrent gives back the reference to the old object, unless its Ref was
// overwritten: then retire gives the object up, and says so.
func (w *publishing) releaseCurrent() {
	obj := w.current
	w.current = nil
	if obj == nil || (*Object)(unsafe.Add(obj, w.slot.offset)).counters.Load() == nil {
		return
	}
	Release(w.slot, obj)
}

// takeBack gives back next, unless it was published, and the reference to the old
// object. It runs no function of the user's.
func (w *publishing) takeBack() {
	p := w.slot.pool
	if w.version == 0 {
		p.stats.failed.Add(1)
	}
	if next := w.next; next != nil {
		if next.counters.Load() != w.counters { // fill overwrote its Ref
			p.restore(next, w.counters)
		}
		// If fill gave next away, it has another owner or is current, and (B1)
		// fails. Otherwise it is free now and this goroutine's, to be reset in
		// settle.
		if p.giveBack(next, w.owned) {
			w.object, w.retirement = next, retirement{drained: true}
		}
	}
	w.releaseCurrent()
}

// settle does the steps that may run functions of the user's: without the turn, so that a
// slow one keeps no publisher waiting. The object to settle is in no list and
// belongs to this goroutine.
func (w *publishing) settle(err *error) {
	defer w.slot.pool.reportHeldTooLong(w.tracing)
	if w.object == nil {
		return
	}
	if excess := w.slot.pool.settle(w.object, w.retirement); excess != nil {
		*err = excess
	}
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
	// Ask, and then look at each thing that can end the wait, (W1): an object that
	// came back, the end of the container, the limit. All objects can become current
	// while this call waits, and then none comes back by itself.
	signal := p.returned.next()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if next, err := p.Get(); !errors.Is(err, ErrLimit) {
			return next, err
		}
		if _, closed := s.snapshot(); closed {
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
		signal = p.returned.next()
	}
}

// allCurrent reports whether as many objects as may exist are current, so that none
// can come back by itself. Both numbers are of one moment: if they were loaded one
// after the other, an object adopted or discarded in between could hide one that is
// about to come back.
func (p *Pool) allCurrent() bool {
	live, current := p.stats.objects.load()
	return live >= p.MaxLive && live <= current
}
