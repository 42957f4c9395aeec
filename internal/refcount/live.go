package refcount

import (
	"sync/atomic"

	"github.com/poolswap/poolswap/internal/seam"
)

// stats counts events. A read that meets no update writes none of it. Of it the
// protocol reads live, published and retired, under a limit alone.
type stats struct {
	live      seam.Uint64 // objects that exist and are not discarded or lost
	published seam.Uint64
	retired   seam.Uint64 // published-retired: current; see (G4)

	resetting atomic.Int64 // hooks that run at this moment

	created, adopted, discarded, lost, collected atomic.Uint64
	drained                                      atomic.Uint64 // retired-drained: replaced and still held
	abandoned, leaked, failed                    atomic.Uint64
	retries, lateReleases, slowChecks            atomic.Uint64

	// unpublished is how many objects that a Get returned were given back or
	// collected instead of published, less the number of those that were
	// published although no Get had returned them. Together with published it is
	// how many fills have ended, see spareLimit. An adopted object counts only
	// after its publication, so that it never looks like one that is being
	// filled.
	unpublished atomic.Int64
}

// addLive counts one more live object.
func (s *stats) addLive() { s.live.Add(1) } // (G3)

// reserve counts one more live object unless limit, if there is one, is
// reached. Racing adopters of one object may decrement before the increment,
// so live can dip below zero and is compared as signed.
func (s *stats) reserve(limit int) bool {
	if limit == 0 {
		s.addLive()
		return true
	}
	for {
		live := s.live.Load()
		if int64(live) >= int64(limit) {
			return false
		}
		if s.live.CompareAndSwap(live, live+1) { // (G3)
			return true
		}
	}
}

// removeLive counts one live object less, and wakes what waits for objects.
func (p *Pool) removeLive() {
	p.stats.live.Add(^uint64(0)) // (G3)
	p.returned.wake()
}

// lose settles a retired object that will never come back.
func (p *Pool) lose() {
	p.stats.drained.Add(1)
	p.stats.lost.Add(1)
	p.removeLive()
}
