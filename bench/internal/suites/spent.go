package suites

import (
	"runtime/metrics"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// spent is the CPU time that the runtime says went to the collector and to Go
// code, the number of collections, and what was allocated, since the start of the
// process.
type spent struct {
	at              time.Time
	collector, user float64 // seconds
	collections     float64
	bytes           float64
}

func readSpent() spent {
	values := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/user:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(values)
	return spent{
		time.Now(), values[0].Value.Float64(), values[1].Value.Float64(),
		float64(values[2].Value.Uint64()), float64(values[3].Value.Uint64()),
	}
}

// end adds to the sample what was spent since, by so many updates.
func (s spent) end(sample *measure.Sample, updates int) {
	now := readSpent()
	collector, user := now.collector-s.collector, now.user-s.user
	sample.Values["gcs"] = now.collections - s.collections
	sample.Values["gc-cpu-ns"] = 1e9 * collector / now.at.Sub(s.at).Seconds()
	sample.Values["B/update"] = (now.bytes - s.bytes) / float64(updates)
	sample.Values["gc-share"] = 0
	if collector > 0 {
		sample.Values["gc-share"] = collector / (collector + user)
	}
}
