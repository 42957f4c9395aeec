package refcount

import "errors"

// This file is the write path: publish, swap, retire, reclaim.

// Update publishes next, or empties the slot, and retires what was current. It
// returns false, and leaves next to the caller, if the slot is closed. op names
// the operation in panics.
func (s *Slot) Update(next *Object, op string) (open bool) {
	s.Check(op)
	var owned uint64
	adopted := false
	if next != nil {
		if _, closed := s.look(); closed {
			return false
		}
		owned, adopted = s.prepare(next, op)
	}
	old, _, err := s.put(next, owned, anySwaps)
	overtaken := errors.Is(err, ErrClosed)
	if adopted && !(overtaken && s.pool.disown(next, owned)) {
		s.pool.stats.unpublished.Add(-1) // published by this call, or taken by another
	}
	switch {
	case errors.Is(err, errRefused):
		s.refuse(next, op)
	case overtaken:
		return next == nil
	case old != nil:
		if err := s.pool.settle(old, s.retire(old, op)); err != nil {
			panic(err.Error())
		}
	}
	return true
}

// prepare makes next known to the pool if it is new, and returns its state word
// and whether this call adopted it.
func (s *Slot) prepare(next *Object, op string) (owned uint64, adopted bool) {
	if next.counters.Load() == nil {
		if owned, adopted = s.pool.adopt(next); adopted {
			return owned, true
		}
	}
	s.pool.checkOwn(next, op)
	owned = next.counters.Load().State.Load()
	if phaseOf(owned) == discarded {
		if again, adopted := s.pool.adoptDiscarded(next); adopted {
			return again, true
		}
	}
	return owned, false
}

// anySwaps tells put not to compare the number of swaps.
const anySwaps = ^uint64(0)

// errRefused is what put returns for an object that is not its caller's.
var errRefused = errors.New("refused")

// put makes next current, or empties the slot if next is nil. It returns what
// was current, whose retirement passes to the caller, and the version of next.
// It changes nothing and fails if the slot is closed, if it was swapped since
// there were so many swaps, or if the state of next, which the caller owns, is
// not the private one that the caller saw.
func (s *Slot) put(next *Object, owned, swaps uint64) (old *Object, version uint64, err error) {
	// Publications of one container have one order, that of the mutex. Nothing
	// below waits, allocates, panics or calls a function of the user, so the
	// mutex is held shortly and always given back.
	s.mu.Lock()
	defer s.mu.Unlock()

	// (V3) Look whether the slot is closed, or was swapped since the caller held
	// what it built on. Swaps are counted; addresses would not do, since a
	// container that was empty can be filled and be empty again. The mutex keeps
	// the answer true until (U2).
	if s.closed { // (V3)
		return nil, 0, ErrClosed
	}
	if swaps != anySwaps && s.swaps != swaps { // (V3)
		return nil, 0, ErrConflict
	}

	if next != nil {
		counters := next.counters.Load()

		// (U1) Private to live. It is a compare-and-swap, so one of two racing
		// Updates of an object is refused, also if they name two containers. It
		// is from the state that the caller saw, generation included, so an
		// object that was given back and has another owner now is refused too.
		// It comes before (U2), because a reader that acquires at once may
		// release at once and must not find private at (R1). Between (U1) and
		// (U2) the object is live and in no container: no reader validates it,
		// and late ones count and undo. Nothing after it fails: what went live
		// is never taken back.
		if phaseOf(owned) != private || !counters.State.CompareAndSwap(owned, withPhase(owned, live)) { // (U1)
			return nil, 0, errRefused
		}

		// (V4) Number the object, before the swap, so that everyone who can hold
		// it reads its number. The number comes from a counter of the pool, and
		// under the mutex, so it is above all earlier ones of this container.
		version = s.pool.versions.Next()
		publication := &counters.Publication
		publication.Container.Store(s.id)  // (V4)
		publication.Version.Store(version) // (V4)
	}

	return s.swap(next, version), version, nil
}

// swap makes next, which is live, or nil current, and returns what was. The
// caller holds mu.
func (s *Slot) swap(next *Object, version uint64) (old *Object) {
	// What is current now does not change before the swap: all swaps are made
	// under the mutex.
	old = s.current.Load()
	if old != nil {
		s.pool.leavesContainer(old)
	}
	// (G4) Count what goes as retired, in leavesContainer, and then what comes as
	// published, so that allCurrent, which loads them the other way round, takes an
	// Update under way for no current object more. Count before (W2): a publisher
	// at the limit has asked and then looked, so it saw this count or is woken.
	if next != nil {
		s.pool.stats.published.Add(1) // (G4)
	}
	if next != nil && old == nil {
		s.pool.back.wake() // one more is current: a wait at the limit may be in vain
	}

	// (U2) Swap: the linearization point of an Update. Each publication of an
	// object is returned by exactly one swap, so exactly one writer retires it:
	// ownership of the retirement passes to this call. Between (U2) and (T1)
	// the old object is live and not current. Readers that validated before
	// still release it, see live at (R4), and leave it to this writer.
	old = s.current.Swap(next) // (U2)
	s.swaps++

	// (V5) Show the version, after the swap: a goroutine that reads it and then
	// acquires gets this object or a newer one. Then wake those that wait for
	// it. Emptying the slot fires no signal.
	s.version.Store(version) // (V5)
	if next != nil {
		s.wake()
	}
	return old
}

// giveUpOverwritten gives up an object whose Ref was overwritten while it was
// current, and panics. Readers that hold it can release it again: the registry
// still knows its counters.
func (p *Pool) giveUpOverwritten(old *Object, op string) {
	if counters := p.registry.find(old); counters != nil {
		p.restore(old, counters)

		// (L4) Its Ref was overwritten. The swap made this writer the one that
		// retires the object, so no other goroutine writes its state. Readers
		// may have released it in the meantime in vain, so its counts are not
		// to be trusted: the object is lost and never summed.
		counters.State.Store(withPhase(counters.State.Load(), lost)) // (L4)
		p.stats.retired.Add(1)                                       // (G4)
		p.lose()
	}
	p.panicOverwritten(op)
}

// ending is what retire found out about an object: at most one of three. The
// caller settles it when it holds neither lock nor turn.
type ending struct {
	drained bool    // it is free and belongs to the caller, who recycles it
	excess  *Excess // it was released too often, and is lost
	fence   error   // membarrier failed, and it is lost
}

// settle does what may run functions of the user's. It returns an over-release
// that it cannot report.
func (p *Pool) settle(o *Object, end ending) error {
	switch {
	case end.drained:
		p.recycle(o)
	case end.fence != nil:
		p.fenceFailed(end.fence)
	case end.excess != nil && p.Reports == nil:
		return end.excess
	case end.excess != nil:
		p.Reports.OverRelease(*end.excess)
	}
	return nil
}

// retire begins the end of an object's generation. The caller has swapped the
// object out, so no other goroutine writes its state until (T3), unless two
// containers had the object, as only a forged one can.
func (s *Slot) retire(o *Object, op string) ending {
	counters := o.counters.Load()
	if counters == nil {
		s.pool.giveUpOverwritten(o, op)
	}
	stats := &s.pool.stats

	// (T1) Retiring. It must be visible before (T2): if it were set after the
	// fence, a Release could still read live and go unsummed, and the object
	// would never drain. It need not be a fence itself, and a store would do
	// for the protocol, since no other goroutine writes the state of a live
	// object. It is a compare-and-swap all the same, so that an object which a
	// forged or copied container holds too is retired once, and the other
	// Update panics.
	now := counters.State.Load()
	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, withPhase(now, retiring)) { // (T1)
		o.panicMisuse(op, "that was current here and is not any more (a copied Container?)")
	}

	// (T2) The heavy fence. After it every validated (A3), and every (R3)
	// whose (R4) saw live, is visible. A reader that acquires or releases
	// during the fence is covered on either side: before its own processor's
	// fence by that fence, after it by (A4) or (R4), which see the new values.
	if err := counters.HeavyFence(); err != nil { // (T2)
		// (L1) The fence failed, so nothing is known about counts under way.
		// No goroutine has summed, since (S1) wants retired, and none will:
		// readers count on the object as before, and the collector takes it
		// when they are gone. The counting mode belongs to the counters, so
		// objects that are still to come count atomically, and there is no
		// moment at which the process switches.
		counters.State.Store(withPhase(now, lost)) // (L1)
		s.pool.lose()
		stats.abandoned.Add(1)
		return ending{fence: err}
	}

	// (T3) Retired. It must not come before (T2): a checker would sum without
	// counts that validated readers still have in their store buffers, and
	// recycle the object under them. And it needs a full fence of its own
	// before the writer sums: this store against the writer's loads of
	// released, and (R3), fenced by (C1), against the load (S1), are two
	// processors that each store and then look. Without a fence on both sides
	// both may look too early, and the object never drains. Go's atomic Store
	// is such a fence.
	//
	// From here on anyone may end the generation while this writer is still
	// here. Of the object the writer touches only what never changes, counters
	// and pool, and through them the counts.
	counters.State.Store(withPhase(now, retired)) // (T3)
	drained, excess := o.reclaim()
	return ending{drained: drained, excess: excess}
}

// reclaim frees the object if it is retired and all references were given
// back, and reports whether this call did. In one generation at most one call
// returns true, and its caller owns the object. If the counts prove that the
// object was released too often, the object is lost and one call says by how
// much.
func (o *Object) reclaim() (drained bool, excess *Excess) {
	counters := o.counters.Load()

	// (S1) Load the state: the generation that the sums below are about. The
	// compare-and-swap of (S4) is against this value.
	now := counters.State.Load() // (S1)
	if phaseOf(now) != retired {
		return false, nil
	}

	// (S2) Sum all of released first. References may come and go between two
	// stripes, and between (S2) and (S3): by Sums, equality still means that
	// all references were back at one moment in between. Stripe by stripe
	// would be sound only because of how (A5) undoes.
	released := counters.Released() // (S2)

	// (S3) Then sum all of acquired. More released than acquired cannot be
	// without misuse. The sums may wrap around; their difference does not.
	acquired := counters.Acquired() // (S3)
	if extra := int64(released - acquired); extra > 0 {
		// (L2) Released too often. The object is not freed: readers may hold
		// it. It is a compare-and-swap from the state of (S1), so if several
		// checkers find out, one reports, and an object that has begun another
		// generation is left alone.
		if !counters.State.CompareAndSwap(now, withPhase(now, lost)) { // (L2)
			return false, nil
		}
		o.pool.lose()
		return false, o.excess(now, acquired, released)
	}

	// (S4) Retired to free, if the sums are equal. If this checker was
	// suspended after (S3), another may have freed the object since; it may
	// have been filled, published, and retired again with readers. The
	// generation differs then, and the compare-and-swap fails. Several checkers
	// may find equal sums; one wins and owns the object. It passes the object
	// on at once: a writer resets it, a reader pushes it, (P1).
	if released != acquired || !counters.State.CompareAndSwap(now, withPhase(now, free)) { // (S4)
		return false, nil
	}
	o.pool.stats.drained.Add(1)
	return true, nil
}
