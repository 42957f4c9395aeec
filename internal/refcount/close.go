package refcount

import (
	"context"
	"slices"

	"github.com/poolswap/poolswap/internal/seam"
)

// Drain waits until objects are back; Close ends a container or a pool and then
// waits for the same.

// Close empties the slot for good, and waits until its publications are back. It
// also returns the over-release of the current object, if it finds one that it
// cannot report.
func (s *Slot) Close(ctx context.Context) (excess, err error) {
	const op = "Close"
	checkContext(ctx, op)
	s.Check(op)
	excess = s.closeSlot()
	waited := func(e *entry) bool {
		return e.mark != 0 && e.phase != lost && e.counters.Publication.Container.Load() == s.id
	}
	// A publisher that is in fill still ends, unpublished, and holds the old
	// object until then. It gives both back before it passes the turn, (V6), so they
	// are marked when this call has the turn, and the wait below is for them too.
	if _, err := s.turn.Take(ctx, nil); err != nil {
		held := s.pool.held(op, err, waited)
		held.Filling = true
		return excess, held
	}
	s.turn.Pass()
	return excess, s.pool.await(ctx, op, nil, waited)
}

// closeSlot closes the slot. It returns an error if the current object turns out to be
// released too often.
func (s *Slot) closeSlot() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	// (D3) Close, under the mutex and together with the last swap. A publication
	// that comes first is swapped out here; one that comes later is refused at
	// (V3). The signal ends publishers that wait for their turn or an object,
	// and one that comes later finds it fired. It fires after the unlock: a
	// goroutine that it wakes wants the mutex at once, to look.
	s.closed = true // (D3)
	old := s.swap(nil, 0)
	s.mu.Unlock()
	s.closing.Fire()
	s.wake()
	return s.end(old, "Close")
}

// Close closes every container of the pool, waits until all objects are back,
// and discards them. It returns over-releases like Slot.Close.
func (p *Pool) Close(ctx context.Context) (excesses []error, err error) {
	const op = "Close"
	checkContext(ctx, op)
	p.Check(op)

	// (D4) Close, under the mutex of the free list. From here on no Get returns
	// an object, no factory is called, and objects that come back are discarded. One
	// that came first has made its object private under the same mutex, or is
	// counted as creating one, so it is found below.
	p.free.mu.Lock()
	p.free.closed = true // (D4)
	p.free.mu.Unlock()

	// No container is made from here on, so all of them are in the list that
	// follows, but for those that the collector has taken.
	p.slots.close()
	for _, s := range p.slots.all() {
		if excess := s.closeSlot(); excess != nil {
			excesses = append(excesses, excess)
		}
	}

	// Clean objects go first: a pop by another Trim or Close has marked its
	// object by the time that this one finds the list empty, so an object in
	// Discard there is waited for here.
	p.Trim()

	// An object that is live and not marked was current in a container that the
	// program dropped: it is the collector's. So is a clean one that is not
	// among the spares.
	return excesses, p.await(ctx, op, p.free.isCreating, func(e *entry) bool {
		return e.phase == private || e.phase != lost && e.mark != 0
	})
}

// Drain waits until the objects that were replaced before the call are not held any
// more and were reset or discarded.
func (p *Pool) Drain(ctx context.Context) error {
	const op = "Drain"
	checkContext(ctx, op)
	p.Check(op)

	// An Update that returned before this call has taken its mark by (D1), so the
	// mark is at most last. A mark above it is of an object that left later: without
	// this bound a steady stream of updates would keep Drain waiting for ever.
	last := p.leavings.Last()
	return p.await(ctx, op, nil, func(e *entry) bool {
		return e.mark != 0 && e.mark <= last && e.phase != lost
	})
}

// await waits until pending, if it is not nil, returns false, and then no object
// in the registry is as waited says.
func (p *Pool) await(ctx context.Context, op string, pending func() bool, waited func(*entry) bool) error {
	// Pending comes first: a call of the factory counts as pending until its object
	// is private and in the registry, so one of the two looks finds it.
	done := func() bool {
		return (pending == nil || !pending()) && !p.registry.any(waited)
	}
	if done() { // without asking, which allocates
		return nil
	}
	signal := p.returned.next()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if done() {
			return nil
		}
		if err := seam.Wait(ctx, signal, nil); err != nil {
			return p.held(op, err, waited)
		}
		signal = p.returned.next()
	}
}

// held describes the objects that op waited for: those of them that wanted
// accepts.
func (p *Pool) held(op string, err error, wanted func(*entry) bool) *HeldError {
	e := &HeldError{Op: op, Type: p.TypeName, Err: err}
	p.registry.each(func(obj *entry) bool {
		switch {
		case !wanted(obj):
		case obj.phase == private || obj.phase == unborn:
			e.Private++
		case obj.phase == free || obj.phase == discarded:
			if obj.mark != 0 {
				e.Resetting++
			}
		case obj.mark == 0:
			e.Current++
		default:
			e.Objects++
			e.References += max(0, obj.counters.Outstanding())
			e.Versions = append(e.Versions, obj.counters.Publication.Version.Load())
			e.Longest = max(e.Longest, p.leftFor(obj.counters))
			e.Holders = append(e.Holders, p.tracer.references.of(obj.counters)...)
		}
		return true
	})
	slices.Sort(e.Versions)
	sortHolders(e.Holders)
	return e
}
