package refcount

import (
	"slices"
	"time"

	"github.com/poolswap/poolswap/internal/stripe"
)

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

	Versions        []uint64
	FailedPublishes uint64
	Held            int
	OldestRetired   time.Duration

	Reads struct {
		Retries      uint64
		LateReleases uint64
		SlowChecks   uint64
		Counting     string
		Path         string
	}
}

// Stats returns the counts and their consequences. Each is right for some
// moment during the call. If one count is subtracted from another, the one
// that grows first is loaded last, so that no difference is negative.
func (p *Pool) Stats() Stats {
	c := &p.stats
	live, current := c.objects.load()
	s := Stats{
		Discarded: c.discarded.Load(),
		Lost:      c.lost.Load(),
		Collected: c.collected.Load(),
		Created:   c.created.Load(),
		Adopted:   c.adopted.Load(),
		Live:      max(0, live),
		Current:   current,
		Resetting: int(c.resetting.Load()),
		Drained:   c.drained.Load(),
		Leaked:    c.leaked.Load(),
		Abandoned: c.abandoned.Load(),

		FailedPublishes: c.failed.Load(),
	}
	s.Reads.Retries = c.retries.Load()
	s.Reads.LateReleases = c.lateReleases.Load()
	s.Reads.SlowChecks = c.slowChecks.Load()
	s.Reads.Path = ReadPath()
	s.Reads.Counting = "portable"
	if !p.Portable && stripe.Asymmetric() {
		s.Reads.Counting = "asymmetric"
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
	s.Retired = int(c.retired.Load() - s.Drained)
	s.Updates = c.published.Load()
	s.Spares, s.SpareLimit, s.PendingReset = p.free.count()
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
