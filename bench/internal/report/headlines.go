package report

import (
	"fmt"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// headline is one of the few figures at the top of the page.
type headline struct{ Figure, Text string }

// headlines returns those for which the run has values.
func headlines(run *results.Run) []headline {
	var all []headline
	// add says how many times as fast ours is; text is a format for the medians
	// of ours and theirs.
	add := func(suite, c, theirs, ours, unit, text string) {
		a, b := run.Find(suite, c, theirs).Values[unit], run.Find(suite, c, ours).Values[unit]
		if ratio := stats.Compare(a, b); ratio.N > 0 {
			text = fmt.Sprintf(text, Format(stats.Of(b).Median, unit), Format(stats.Of(a).Median, unit))
			if !ratio.Significant {
				text += "; the difference may be chance"
			}
			all = append(all, headline{FormatRatio(ratio.Median), text})
		}
	}
	const swap = "writes=1%/limit=512MiB"
	add("hotswap", swap, "AtomicPtr", "PoolSwap", "ns/op",
		"as fast as a new map for each update: %s per operation, not %s, where 1 in 100 replaces a map of 100,000 entries and 99 read it")
	add("hotswap", swap, "RWMutexRef", "PoolSwap", "ns/op",
		"as fast as RWMutex and count, the usual way to recycle, in the same test: %s, not %s")
	add("read", "procs=1/goroutines=1/writer=none", "RWMutexRef", "PoolSwap", "ns/op",
		"as fast as RWMutex and count when one goroutine reads: %s per read, not %s")
	add("read", "procs=2/goroutines=2/writer=none", "RWMutexRef", "PoolSwap", "ns/op",
		"as fast when two cores read at the same time: %s per read, not %s")
	if bytes := run.Find("hotswap", swap, "PoolSwap").Values["B/op"]; len(bytes) > 0 {
		theirs := stats.Of(run.Find("hotswap", swap, "AtomicPtr").Values["B/op"]).Median
		all = append(all, headline{Format(stats.Of(bytes).Median, "B/op"), fmt.Sprintf("allocated per operation, not %s as with a new map for each update", Format(theirs, "B/op"))})
	}
	if made := run.Find("cadence", "collections=3", "PoolSwap").Values["factory-calls"]; len(made) > 0 {
		theirs := stats.Of(run.Find("cadence", "collections=3", "RWMutexRef").Values["factory-calls"]).Median
		all = append(all, headline{Format(stats.Of(made).Median, ""), fmt.Sprintf("objects made in 100 updates with three garbage collections between them; %s with a sync.Pool", Format(theirs, ""))})
	}
	return all
}
