package refcount

// retirement is the finding of retire about an object: at most one of three. The
// caller settles it when it holds neither lock nor turn.
type retirement struct {
	drained bool              // it is free and belongs to the caller, who recycles it
	excess  *OverReleaseError // it was released too often, and is lost
	fence   error             // membarrier failed, and it is lost
}

// end retires old, which the caller has swapped out, or nil, and settles it. It
// returns an over-release that it cannot report.
func (s *Slot) end(old *Object, op string) error {
	if old == nil {
		return nil
	}
	return s.pool.settle(old, s.retire(old, op))
}

// retire begins the end of an object's generation. The caller has swapped the
// object out, so no other goroutine writes its state until (T3), unless two
// containers had the object, as only a forged one can.
func (s *Slot) retire(o *Object, op string) retirement {
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

	if counters.Publication.Traced.Load() {
		s.pool.retiredTraced()
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
		return retirement{fence: err}
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
	// here. The writer now touches only immutable fields of the object, counters
	// and pool, and through them the counts.
	counters.State.Store(withPhase(now, retired)) // (T3)
	drained, excess := o.reclaim()
	return retirement{drained: drained, excess: excess}
}

// reclaim frees the object if it is retired and all references were given
// back, and reports whether this call did. In one generation at most one call
// returns true, and its caller owns the object. If the counts prove that the
// object was released too often, the object is lost and one call says by how
// much.
func (o *Object) reclaim() (drained bool, excess *OverReleaseError) {
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
		excess = o.excess(now, acquired, released)
		excess.Suspects = o.pool.endTraced(counters)
		return false, excess
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

// settle does the steps that may run functions of the user's. It returns an over-release
// that it cannot report.
func (p *Pool) settle(o *Object, end retirement) error {
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
		p.stats.retired.Add(1)
		p.lose()
		if counters.Publication.Traced.Load() {
			p.retiredTraced()
		}
	}
	p.panicOverwritten(op)
}
