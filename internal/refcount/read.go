package poolswap

import (
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// release gives back one reference to the object whose Ref is at offset in it,
// or the object itself when it is its owner's and not published.
func (p *recycler) release(obj unsafe.Pointer, offset uintptr) {
	if obj == nil {
		return
	}
	ref := (*Ref)(unsafe.Add(obj, offset))
	if ref.pool == p && p != nil {
		counters := ref.counters.Load()
		if phaseOf(counters.State.Load()) == live { // (R1) the common case
			k := seam.Pin()           // (R2) choose the stripe
			counters.CountReleased(k) // (R3) from here on the object may be recycled

			// (R4) If the object is being replaced, the sums may have missed
			// (R3), and somebody must sum again. If it is not, then on the
			// asymmetric way the heavy fence of its retirement is still to
			// come, and makes (R3) visible to the sums.
			after := counters.State.Load()
			seam.Unpin()
			if phaseOf(after) == live {
				return
			}
			ref.releasedLate()
			return
		}
	}
	p.releaseSlow(ref)
}

// releaseSlow is release of an object that is not current, and of everything
// that it would be wrong to release.
func (p *recycler) releaseSlow(ref *Ref) {
	if p == nil {
		panicNotMade("Release", "Container", "NewContainer or NewEmptyContainer", false)
	}
	counters := ref.counters.Load()
	if counters == nil {
		panicUnpublished("Release", p.typeName)
	}
	p.checkOwn(ref, "Release")
	now := counters.State.Load()
	switch phaseOf(now) {
	case live, retiring, retired, lost:
		k := seam.Pin()           // (R2)
		counters.CountReleased(k) // (R3)
		seam.Unpin()
		ref.releasedLate()
		if phaseOf(now) == lost { // nobody will sum
			ref.refuseExcess()
		}
	case private:
		if !counters.State.CompareAndSwap(now, in(now, free)) { // (B1) the owner gives it back
			ref.panicMisuse("Release", "that another goroutine is publishing or giving back")
		}
		p.recycle(ref)
	case free:
		ref.panicMisuse("Release", "that is in the pool (released twice?)")
	case discarded:
		ref.panicMisuse("Release", "that the pool has discarded (released twice?)")
	}
}

// refuseExcess panics if a lost object was released more often than acquired.
func (r *Ref) refuseExcess() {
	if extra := -r.counters.Load().Outstanding(); extra > 0 {
		r.panicMisuse("Release", fmt.Sprintf("that the pool gave up, and that was released too often, here or elsewhere: %d too many (released twice?)", extra))
	}
}

// releasedLate finishes a release that met an object which is not current any
// more.
func (r *Ref) releasedLate() {
	r.pool.tally.lateReleases.Add(1)
	r.slowCheck()
}
