package refcount

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
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
	p.back.wake()
}

// lose settles a retired object that will never come back.
func (p *Pool) lose() {
	p.stats.drained.Add(1)
	p.stats.lost.Add(1)
	p.removeLive()
}

// Stats is poolswap.Stats, where each field is documented.
type Stats struct {
	Created      uint64
	Adopted      uint64
	Discarded    uint64
	Lost         uint64
	Collected    uint64
	Live         int
	Current      int
	Retired      int
	PendingReset int
	Resetting    int
	Spares       int
	SpareLimit   int
	Updates      uint64
	Drained      uint64
	Leaked       uint64
	Abandoned    uint64
	Retries      uint64
	LateReleases uint64
	SlowChecks   uint64
	Counting     string
	ReadPath     string

	Versions        []uint64
	FailedPublishes uint64
	Held            int
	OldestRetired   time.Duration
}

// Stats returns the counts and what follows from them. Each is right for some
// moment during the call. If one count is subtracted from another, the one
// that grows first is loaded last, so that no difference is negative.
func (p *Pool) Stats() Stats {
	c := &p.stats
	s := Stats{
		Discarded:    c.discarded.Load(),
		Lost:         c.lost.Load(),
		Collected:    c.collected.Load(),
		Created:      c.created.Load(),
		Adopted:      c.adopted.Load(),
		Live:         max(0, int(c.live.Load())),
		Resetting:    int(c.resetting.Load()),
		Drained:      c.drained.Load(),
		Leaked:       c.leaked.Load(),
		Abandoned:    c.abandoned.Load(),
		Retries:      c.retries.Load(),
		LateReleases: c.lateReleases.Load(),
		SlowChecks:   c.slowChecks.Load(),
		Counting:     "portable",
		ReadPath:     ReadPath(),

		FailedPublishes: c.failed.Load(),
	}
	p.registry.each(func(e *entry) bool {
		s.Held += e.counters.Held()
		if e.phase == retiring || e.phase == retired {
			s.OldestRetired = max(s.OldestRetired, p.leftFor(e.counters))
		}
		return true
	})
	for _, slot := range p.slots.all() {
		if version := slot.version.Load(); version != 0 {
			s.Versions = append(s.Versions, version)
		}
	}
	slices.Sort(s.Versions)
	retired := c.retired.Load()
	s.Updates = c.published.Load()
	s.Retired = int(retired - s.Drained)
	s.Current = int(s.Updates - retired)
	s.Spares, s.SpareLimit, s.PendingReset = p.free.count()
	if !p.Portable && stripe.Asymmetric() {
		s.Counting = "asymmetric"
	}
	return s
}

// Refs returns how many references to obj are outstanding, as of some moment
// during the call: 0 for nil and for an object without counters, negative
// after a Release too many. It panics for an object of another pool.
func (p *Pool) Refs(obj *Object) int {
	if obj == nil {
		return 0
	}
	counters := obj.counters.Load()
	if counters == nil || phaseOf(counters.State.Load()) == unborn {
		return 0
	}
	p.checkOwn(obj, "Refs")
	return counters.Outstanding()
}
