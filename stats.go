package poolswap

import (
	"time"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Stats describe a [Pool]. Every figure is exact while no operation is under
// way; otherwise each is right for some moment during the call of Stats, not
// all for the same one. The field names are those of the JSON encoding.
//
// Objects come as Created or Adopted and go as Discarded, Lost or Collected;
// the difference is Live. Of the live ones, Current are in containers, Retired
// are replaced and still held, PendingReset, Resetting and Spares are free, and
// the rest is with writers or in the overflow behind the spares.
type Stats struct {
	Created   uint64 // by the factory
	Adopted   uint64 // came by Update or NewContainer and not from the pool
	Discarded uint64 // refused by reset, beyond the spares, or trimmed; or adopted by an Update that Close overtook, which Discard does not see
	Lost      uint64 // given up: reset panicked, a Release too many, or a failed fence
	Collected uint64 // taken by the garbage collector, as from the overflow

	Live         int // Created + Adopted - Discarded - Lost - Collected
	Current      int // published and not replaced
	Retired      int // replaced and still held: if it grows, readers hold too long or leak
	PendingReset int // free, not reset yet
	Resetting    int // free, in reset or Discard at this moment
	Spares       int // free and clean, kept across garbage collections
	SpareLimit   int // of Spares: Options.Spares, or the default at this moment

	Updates   uint64 // objects published
	Drained   uint64 // replaced objects whose last reader released them, or that were given up
	Leaked    uint64 // of Collected, those still counted as held: forgotten Releases
	Abandoned uint64 // of Lost, those whose heavy fence failed

	Versions        []uint64      // of the current objects, ascending
	FailedPublishes uint64        // calls of Publish that published nothing: by an error or panic of fill, a conflict, the limit, ctx or Close
	Held            int           // references outstanding, to current objects as well; omits counts still in store buffers
	OldestRetired   time.Duration // since the oldest object that is still held was replaced, in nanoseconds; 0 if there is none

	// Reads says how reads are counted, and how often they met a publication.
	Reads struct {
		Retries      uint64 // times that an Acquire began again because an Update came between
		LateReleases uint64 // Releases of an object that was being replaced or was replaced
		SlowChecks   uint64 // times that a reader checked whether it was the last
		Counting     string // "asymmetric" or "portable": the counting mode of new objects
		Path         string // "assembly", or "methods (…)" with the reason: platform, race detector, build tag, or an unknown Go runtime
	}
}

// Stats returns a description of the pool, at a cost that grows with the number
// of live objects. It takes mutexes, which no reader takes, and interrupts no
// reader. Nothing is counted on a read for it.
//
// It can be an expvar in one line:
//
//	expvar.Publish("tables", expvar.Func(func() any { return pool.Stats() }))
func (p *Pool[T, P]) Stats() Stats {
	p.engine.Check("Stats")
	return Stats(p.engine.Stats())
}

// Both types have the same fields in the same order; else this does not
// compile.
var _ = Stats(refcount.Stats{})
