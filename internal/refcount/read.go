package refcount

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// This file is the read path: acquire, release, and the check that a reader
// makes when it met an object that was being replaced. The assembly in
// read_amd64.s takes the same steps under the same labels for the common case;
// these methods handle every case and are the reference.
//
// In the words of docs/design.md: Sums says that equal sums mean that no
// reference was outstanding at some moment between them; Visible says that a
// validated reference is visible to every sum of a retired object; Last check
// says that a check comes after the last event that makes the sums equal.

// acquire returns the user's current object, counted, or nil if the slot is
// empty. It repeats only because an Update took effect in between, so it is
// lock-free. The straight way through it is the whole cost of an Acquire.
func (s *Slot) acquire() unsafe.Pointer {
	s.Check("Acquire")
	current := &s.current
	for {
		// (A1) Choose the stripe, and pin. Until Unpin the P belongs to this
		// goroutine alone. The operating system may still stop the thread; then
		// its P waits with it, since the runtime retakes a P only from a system
		// call.
		k := seam.Pin() // (A1)

		// (A2) Load a candidate. Until (A4) this reader does not hold it: it
		// may be replaced, drained, recycled, filled by a writer, current in
		// another container of the pool, or discarded. It cannot be collected,
		// since this pointer keeps it, and its counters never change. So only
		// the counters may be touched, and none of the user's data.
		obj := current.Load() // (A2)
		if obj == nil {
			seam.Unpin()
			return nil
		}
		counters := obj.counters.Load()
		if counters == nil { // a panic while pinned would end the process
			seam.Unpin()
			s.pool.panicOverwritten("Acquire")
		}

		// (A3) Count. The count may land in any later generation of the object.
		// There it is one acquired too many until (A5) undoes it: a checker
		// sees unequal sums, leaves, and should have won. That delays the
		// object and does not corrupt it, and the check after (A5) makes up for
		// it.
		//
		// Where the assembly counts, the store may stay invisible for a while.
		// A checker may then find equal sums and recycle the object. That is
		// right, since no reference exists before (A4), and (A4) fails unless
		// the object is current again by then. If it is current again, this is
		// a reference of that generation, and Visible covers it.
		counters.CountAcquired(k) // (A3)

		// (A4) Re-validate: the linearization point of an Acquire. If obj is
		// current now, in whatever generation, its retirement is still to come,
		// and the heavy fence in it makes (A3) visible to the sums: the
		// reference is real. There is no fence between (A3) and (A4). On x86 no
		// load passes an older load, so (A4) reads after (A2); that (A3) may
		// become visible after (A4) was read is the gap that (T2) closes. A
		// load before (A3) would be unsound: the writer's fence could fall
		// between that load and the count.
		if current.Load() == obj { // (A4)
			seam.Unpin()
			if counters.Publication.Traced.Load() {
				s.pool.tracer.references.took(counters)
			}
			return unsafe.Add(unsafe.Pointer(obj), -int(s.offset))
		}

		// (A5) Undo, on the same stripe and within the same pin, so that the
		// undo never becomes visible before its count. This is not a Release:
		// the object may be private, where a Release would give it back from
		// under its owner, or free, where a Release panics. A checker may have
		// met the count, so a check follows.
		counters.CountReleased(k) // (A5)
		seam.Unpin()
		obj.validationFailed()
	}
}

// validationFailed finishes a round of acquire whose object was replaced
// between (A2) and (A4).
func (o *Object) validationFailed() {
	o.pool.stats.retries.Add(1)
	o.slowCheck()
}

// Release gives back one reference to the user's object obj, or the object
// itself if its owner gives it back unpublished. It is wait-free except for
// the release that drains a replaced object, which pushes it onto the dirty
// list.
func (p *Pool) Release(obj unsafe.Pointer, offset uintptr) {
	if obj == nil {
		return
	}
	o := (*Object)(unsafe.Add(obj, offset))
	if o.pool == p && p != nil {
		counters := o.counters.Load()
		if debugBuild && counters != nil {
			p.checkOwn(o, "Release") // else a copy is found only while the original is being replaced
		}

		// (R1) Look at the phase. This is no part of the counting: it finds
		// misuse, and the owner who gives back. A holder can see live,
		// retiring, retired or lost, never private, free or discarded, since
		// its own reference forbids those. Until (R3) the phase may move on
		// among the ones that a holder can see; (R4) is there for that.
		if phaseOf(counters.State.Load()) == live { // (R1)
			if counters.Publication.Traced.Load() { // as long as it is held
				p.tracer.references.gave(counters)
			}

			// (R2) Choose the stripe. Any stripe will do: it need not be that
			// of the Acquire, because only the sums over all stripes count.
			k := seam.Pin() // (R2)

			// (R3) Count. The reference ends here. Other processors see it end
			// when the store becomes visible, which is after all older loads
			// of this goroutine were executed, so all reading is done by then.
			// From here on the object may be recycled and in another
			// generation; the counters stay valid, and the fast path touches
			// nothing else.
			counters.CountReleased(k) // (R3)

			// (R4) Look at the phase again. If it still says live, then either
			// (T1) of this generation is still to come, and (T2) after it
			// makes (R3) visible to the writer's sums; or a later generation
			// has begun, which takes sums that included (R3). Either way there
			// is nothing to do. Otherwise the writer may have summed without
			// (R3), and this reader checks. A load before (R3) would be
			// unsound: a writer could pass (T1), (T2), (T3) and its sums
			// between that load and the count, and no check would come after.
			after := counters.State.Load() // (R4)
			seam.Unpin()
			if phaseOf(after) == live {
				return
			}
			o.releaseRetired()
			return
		}
	}
	p.releaseSlow(o)
}

// releaseSlow is release of an object that is not current, and of everything
// that it would be wrong to release.
func (p *Pool) releaseSlow(o *Object) {
	if p == nil {
		panicNotMade("Release", "Container", "NewContainer or NewEmptyContainer", false)
	}
	counters := o.counters.Load()
	if counters == nil {
		panicUnpublished("Release", p.TypeName)
	}
	p.checkOwn(o, "Release")
	now := counters.State.Load()
	switch phaseOf(now) {
	case live, retiring, retired, lost:
		// A lost object is counted as well and no check sums it. It is never
		// used again, so a Release too many does no harm; and if it was lost
		// for one, its other holders release it rightly and must not be blamed.
		if counters.Publication.Traced.Load() {
			p.tracer.references.gave(counters)
		}
		k := seam.Pin()           // (R2)
		counters.CountReleased(k) // (R3)
		seam.Unpin()
		o.releaseRetired()
	case private:
		if !p.giveBack(o, now) {
			o.panicMisuse("Release", "that another goroutine is publishing or giving back")
		}
		p.recycle(o)
	case free:
		o.panicMisuse("Release", "that is in the pool (released twice?)")
	case discarded:
		o.panicMisuse("Release", "that the pool has discarded (released twice?)")
	}
}

// Retain takes one more reference to the user's object obj, of which the caller
// holds one.
func (s *Slot) Retain(obj unsafe.Pointer) {
	const op = "Retain"
	s.Check(op)
	if obj == nil {
		return
	}
	o := (*Object)(unsafe.Add(obj, s.offset))
	counters := o.counters.Load()
	if counters == nil {
		panicUnpublished(op, s.pool.TypeName)
	}
	s.pool.checkOwn(o, op)
	if phaseOf(counters.State.Load()) == private {
		o.panicMisuse(op, "that is not published (Retain is for an object that Acquire returned)")
	}
	o.checkNotReleased(op)
	// (H1) Count one more, before the caller releases its own reference. Until
	// then the sums differ, so the object does not drain, and no re-validation
	// is needed. The count is visible before that release is, since one
	// goroutine makes both, or one passes the reference to the other with a
	// locked instruction: a sum with the release in it, which is made first, is
	// followed by one with this count in it. It goes on the stripe of this P,
	// atomically, since Go code counts.
	k := seam.Pin()           // (H1)
	counters.CountAcquired(k) // (H1)
	seam.Unpin()
	if counters.Publication.Traced.Load() {
		s.pool.tracer.references.took(counters)
	}
}

// releaseRetired finishes a release that met an object which is not current
// any more.
func (o *Object) releaseRetired() {
	o.pool.stats.lateReleases.Add(1)
	o.slowCheck()
}

// slowCheck is for a reader that counted on an object that was being
// replaced. Either its fence makes the count visible to the sums of the
// writer, which come after (T3); or (T3) is visible to this reader, which then
// sums itself. That is Last check.
func (o *Object) slowCheck() {
	o.pool.stats.slowChecks.Add(1)

	// (C1) Fence: make the count just made visible before looking at the
	// state. It is a locked instruction on the caller's stack, so that readers
	// do not meet on a cache line. Where the count was atomic it adds nothing.
	seam.Fence() // (C1)

	// (C2) Look again. The state seen at (R4) is too old to decide by: it may
	// have said retiring, and the writer may have stored retired and summed
	// since, before (C1). Only a load after the fence closes the circle of
	// (T3).
	drained, excess := o.reclaim() // (C2)
	if drained {
		o.pool.enqueueReset(o)
	}
	if excess != nil {
		o.pool.overReleasedByReader(*excess)
	}
}
