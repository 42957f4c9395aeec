package poolswap

import "github.com/poolswap/poolswap/internal/stripe"

// Stats are the accounts of a [Pool]. Every figure is exact while no operation
// is under way; while some are, each is right for some moment during the call
// of Stats, not all for the same one. The field names are those of the JSON
// encoding.
//
// Objects come into being as Created or Adopted and go as Discarded, Lost or
// Collected; the difference is Live. Of the live ones, Current are in
// containers, Retired are replaced and still held, Awaiting, Resetting and
// Spares are free, and the rest is with writers or in the overflow behind the
// spares.
type Stats struct {
	Created   uint64 // by the factory
	Adopted   uint64 // came by Update or NewContainer and not from the pool
	Discarded uint64 // refused by reset, beyond the spares, or trimmed
	Lost      uint64 // given up: a hook panicked, a Release too many, or a failed fence
	Collected uint64 // taken by the garbage collector, as from the overflow

	Live      int // Created + Adopted - Discarded - Lost - Collected
	Current   int // published and not replaced
	Retired   int // replaced and still held: large or growing, readers hold too long
	Awaiting  int // free, not reset yet
	Resetting int // free, in reset or Discard at this moment
	Spares    int // free and clean, kept across garbage collections

	Updates   uint64 // objects published
	Drained   uint64 // replaced objects whose last reader has let go, or that were given up
	Leaked    uint64 // of Collected, those still counted as held: forgotten Releases
	Abandoned uint64 // of Lost, those whose heavy fence failed

	Retries      uint64 // rounds that an Acquire made again because an Update came between
	LateReleases uint64 // Releases of an object that was being replaced or was replaced
	SlowChecks   uint64 // times a reader looked whether it was the last

	Counting string // "asymmetric" or "portable": how new objects count their references
}

// Stats returns the accounts of the pool. It takes the mutex of the spares.
func (p *Pool[T, P]) Stats() Stats {
	p.check("Stats")
	return p.recycler.stats()
}

func (p *recycler) stats() Stats {
	t := &p.tally
	s := Stats{
		// What a pair is subtracted from is read last, so that no difference
		// is negative.
		Discarded:    t.discarded.Load(),
		Lost:         t.lost.Load(),
		Collected:    t.collected.Load(),
		Created:      t.created.Load(),
		Adopted:      t.adopted.Load(),
		Live:         max(0, int(t.live.Load())),
		Resetting:    int(t.resetting.Load()),
		Drained:      t.drained.Load(),
		Leaked:       t.leaked.Load(),
		Abandoned:    t.abandoned.Load(),
		Retries:      t.retries.Load(),
		LateReleases: t.lateReleases.Load(),
		SlowChecks:   t.slowChecks.Load(),
		Counting:     "portable",
	}
	retired := t.retired.Load()
	s.Updates = t.published.Load()
	s.Retired = int(retired - s.Drained)
	s.Current = int(s.Updates - retired)
	s.Spares, s.Awaiting = p.spares.count()
	if !p.portable && stripe.Asymmetric() {
		s.Counting = "asymmetric"
	}
	return s
}
