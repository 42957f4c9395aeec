package poolswap

import (
	"fmt"

	"github.com/poolswap/poolswap/internal/seam"
)

// retire begins the end of an object's life in a container, and reports
// whether it has ended already: then the object is free and belongs to the
// caller, who recycles it. The caller has swapped the object out, so nobody
// else writes its state until (T3), unless two containers had the object, as
// only a forged one can.
func (r *Ref) retire() (drained bool) {
	counters := r.counters.Load()
	tally := &r.pool.tally

	now := counters.State.Load()
	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, in(now, retiring)) { // (T1) visible before the fence: a release that sees live is seen by the sums
		r.panicMisuse("Update", "that was current here and is not any more (a copied Container?)")
	}
	tally.retired.Add(1)

	// (T2) Every validated acquire, and every release that saw live, is
	// visible after this.
	if err := counters.HeavyFence(); err != nil {
		counters.State.Store(in(now, lost)) // (L1) nobody will free it
		tally.lose()
		tally.abandoned.Add(1)
		r.pool.tell(fmt.Errorf("poolswap: membarrier failed: a %s is left to the garbage collector and new objects are counted the portable way: %w", r.pool.typeName, err))
		return false
	}

	counters.State.Store(in(now, retired)) // (T3) after the fence, with a fence of its own: from here on anybody may sum
	return r.reclaim()
}

// reclaim frees the object if it is retired and nobody holds it, and reports
// whether this call did. Of all calls in one life of the object one at most
// returns true; its caller owns the object.
func (r *Ref) reclaim() bool {
	counters := r.counters.Load()
	now := counters.State.Load() // (S1) the life that the sums below are about
	if phaseOf(now) != retired {
		return false
	}
	released := counters.Released()                     // (S2) all of released first,
	acquired := counters.Acquired()                     // (S3) then all of acquired: equal means nobody held it in between
	if extra := int64(released - acquired); extra > 0 { // the sums may wrap around, their difference does not
		r.overReleased(now, extra)
		return false
	}
	if released != acquired || !counters.State.CompareAndSwap(now, in(now, free)) { // (S4) same life, retired to free
		return false
	}
	r.pool.tally.drained.Add(1)
	return true
}

// slowCheck is what a reader does that counted on an object which was being
// replaced. Either its fence makes the count visible to the sums of the
// writer, which come after (T3), or (T3) is visible to it and it sums itself.
func (r *Ref) slowCheck() {
	r.pool.tally.slowChecks.Add(1)
	seam.Fence()     // (C1) my count is visible,
	if r.reclaim() { // (C2) and only now look again
		r.pool.handOver(r)
	}
}

// overReleased takes an object out of use whose counts prove that somebody
// released what it did not hold, and panics. Of several that find out at a
// time, one does.
func (r *Ref) overReleased(now uint64, extra int64) {
	if !r.counters.Load().State.CompareAndSwap(now, in(now, lost)) { // (L2) not free: readers may hold it
		return
	}
	r.pool.tally.lose()
	r.panicMisuse("Release", fmt.Sprintf("more often than it was acquired: %d too many (released twice, or by a goroutine that did not acquire it?)", extra))
}
