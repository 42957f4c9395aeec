package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// slot is the engine of a [Container]: the pointer that readers read and a
// writer swaps. The labels are those of docs/internals.md, which discharges
// the interleavings.
type slot struct {
	current seam.Pointer[Ref] // nil while the container is empty
	pool    *recycler         // nil only in a zero Container
	offset  uintptr           // of Ref in the object; constant

	self   *slot // tells a copied container from the original
	direct *slot // self where the assembly may be used, else nil
}

// acquire returns the current object, counted, or nil. It goes round again only
// because an Update took effect in between. The straight way through it is the
// whole cost of an Acquire.
func (s *slot) acquire() unsafe.Pointer {
	s.check("Acquire")
	current := &s.current
	for {
		k := seam.Pin()       // (A1) choose the stripe
		ref := current.Load() // (A2) a candidate: it may be replaced, drained and recycled from here on
		if ref == nil {
			seam.Unpin()
			return nil
		}
		counters := ref.counters.Load()
		counters.CountAcquired(k) // (A3) count, perhaps on an object in a later life

		// (A4) Re-validate; the linearization point of an Acquire. If ref is
		// current now, its retirement is still to come, and the heavy fence in
		// it makes (A3) visible to the sums: the reference is real. There is no
		// fence here: on the asymmetric way no load passes an older load, and
		// the store of (A3) need not be visible yet; on the portable way (A3)
		// is itself a fence.
		if current.Load() == ref {
			seam.Unpin()
			return unsafe.Add(unsafe.Pointer(ref), -int(s.offset))
		}

		// (A5) Undo on the same stripe. This is not a Release: ref may by now
		// be private, free, or current elsewhere, and that is no misuse.
		counters.CountReleased(k)
		seam.Unpin()
		ref.overtaken()
	}
}

// overtaken finishes a round of acquire that an Update overtook: a sum may have
// met the count that was just undone.
func (r *Ref) overtaken() {
	r.pool.tally.retries.Add(1)
	r.slowCheck()
}

// check panics for a Container that NewContainer did not make, such as a copy.
func (s *slot) check(op string) {
	if s.self != s {
		panicNotMade(op, "Container", "NewContainer or NewEmptyContainer", s.self != nil)
	}
}

// update publishes next, or empties the container, and retires what was
// current.
func (s *slot) update(next *Ref) {
	s.check("Update")
	if next != nil {
		s.publish(next)
	}
	old := s.current.Swap(next) // (U2) the linearization point; ownership of old passes to this call
	if old != nil && old.retire() {
		s.pool.recycle(old)
	}
}

// publish takes next from its owner. Of two calls with the same object one
// wins and the other panics.
func (s *slot) publish(next *Ref) {
	if next.counters.Load() == nil {
		s.pool.adopt(next)
	}
	s.pool.checkOwn(next, "Update")
	state := &next.counters.Load().State
	now := state.Load()
	if phaseOf(now) == discarded && s.pool.renew(next) {
		now = state.Load()
	}
	if phaseOf(now) != private || !state.CompareAndSwap(now, in(now, live)) { // (U1) private to live
		s.refuse(next)
	}
	s.pool.tally.published.Add(1)
}
