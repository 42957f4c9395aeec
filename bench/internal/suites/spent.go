package suites

import (
	"runtime/metrics"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// spent is the CPU time that the runtime says went to the collector, the number of
// collections, and what was allocated, since the start of the process. The runtime
// also says how much went to Go code, but as little as half of what the system
// says.
type spent struct {
	at          time.Time
	collector   float64 // seconds
	collections float64
	bytes       float64
}

func readSpent() spent {
	values := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(values)
	return spent{
		time.Now(), values[0].Value.Float64(),
		float64(values[1].Value.Uint64()), float64(values[2].Value.Uint64()),
	}
}

// end adds to the sample what was spent since, by so many updates.
func (s spent) end(sample *measure.Sample, updates int) {
	now := readSpent()
	sample.Values["gcs"] = now.collections - s.collections
	sample.Values["gc-cpu-ns"] = 1e9 * (now.collector - s.collector) / now.at.Sub(s.at).Seconds()
	sample.Values["B/update"] = (now.bytes - s.bytes) / float64(updates)
}
