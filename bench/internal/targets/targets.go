// Package targets holds what the maintainers hold a release to, and says for a
// run whether it was reached. A ratio is between two rivals of one run.
package targets

import (
	"fmt"
	"math"
	"slices"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// Target is one limit and what a run measured against it.
type Target struct {
	What     string
	Limit    float64
	Below    bool    // the measured value must be below the limit, not just at most as large
	Least    bool    // the measured value must be the limit or more
	Unit     string  // "x" for a ratio
	Measured float64 // NaN if the run has not measured it
	Verdict  Verdict
}

// Verdict is the outcome for one target.
type Verdict string

// The verdicts.
const (
	Met         Verdict = "met"
	NotMet      Verdict = "not met"
	NotMeasured Verdict = "not measured"
)

// Of judges all targets.
func Of(run *results.Run) []Target {
	j := judge{run: run}
	j.reads()
	j.rivals()
	j.hotswap()
	j.pool()
	j.latency()
	j.pooling()
	j.delta()
	return j.targets
}

// judge collects the targets of a run.
type judge struct {
	run     *results.Run
	targets []Target
}

func (j *judge) atMost(limit float64, unit string, measured float64, what string, values ...any) {
	j.add(Target{What: fmt.Sprintf(what, values...), Limit: limit, Unit: unit, Measured: measured}, measured <= limit)
}

func (j *judge) below(limit float64, unit string, measured float64, what string, values ...any) {
	j.add(Target{What: fmt.Sprintf(what, values...), Limit: limit, Below: true, Unit: unit, Measured: measured}, measured < limit)
}

func (j *judge) add(t Target, met bool) {
	switch {
	case math.IsNaN(t.Measured):
		t.Verdict = NotMeasured
	case met:
		t.Verdict = Met
	default:
		t.Verdict = NotMet
	}
	j.targets = append(j.targets, t)
}

func (j *judge) atLeast(limit float64, unit string, measured float64, what string, values ...any) {
	j.add(Target{What: fmt.Sprintf(what, values...), Limit: limit, Least: true, Unit: unit, Measured: measured}, measured >= limit)
}

// median returns the median of a unit, or NaN.
func (j *judge) median(suite, c, rival, unit string) float64 {
	return stats.Of(j.run.Find(suite, c, rival).Values[unit]).Median
}

// ratio returns the median ratio of two rivals' times, or NaN.
func (j *judge) ratio(suite, c, rival, base string) float64 {
	return stats.Compare(j.run.Find(suite, c, rival).Values["ns/op"], j.run.Find(suite, c, base).Values["ns/op"]).Median
}

const (
	alone    = "procs=1/goroutines=1/writer=none"
	oneOfTwo = "procs=2/goroutines=1/writer=none"
	twoCores = "procs=2/goroutines=2/writer=none"
)

func (j *judge) reads() {
	perCore := stats.Compare(
		j.run.Find("read", twoCores, "PoolSwap").Values["core-ns/op"],
		j.run.Find("read", oneOfTwo, "PoolSwap").Values["core-ns/op"])
	j.atMost(1.10, "x", perCore.Median, "Acquire+Release, time per operation and core, two goroutines against one")
	j.atMost(1.5, "x", j.ratio("read", alone, "Reader.Load", "atomic.Pointer"), "Reader.Load against atomic.Pointer.Load")
	j.atMost(1.4, "x", j.ratio("read", alone, "WithAcquire", "PoolSwap"), "WithAcquire against Acquire+Release")
	j.atMost(1.9, "x", j.ratio("parts", "procs=1/goroutines=1", "PoolSwap", "EmptyCalls"), "Acquire+Release against two calls of empty assembly functions")
}

// rivals compares with what other languages have, in one run.
func (j *judge) rivals() {
	for _, writer := range []string{"none", "1000"} {
		for _, threads := range []string{"1", "2"} {
			c := "threads=" + threads + "/writer=" + writer
			if j.run.Machine.Counting != "portable" {
				j.atMost(1, "x", j.ratio("rivals", c, "PoolSwap", "arc-swap"), "Acquire+Release against arc-swap's load, %s", c)
			}
			j.atMost(2, "x", j.ratio("rivals", c, "Reader.Load", "arc-swap-cache"), "Reader.Load against arc-swap's Cache, %s", c)
		}
		const c = "threads=2/writer="
		j.atMost(1, "x", j.ratio("rivals", c+writer, "Portable", "parking-lot"), "Acquire+Release counted the portable way against parking_lot's RwLock, %s", c+writer)
	}
}

func (j *judge) hotswap() {
	bytes, allocations, maps := math.NaN(), math.NaN(), math.NaN()
	var asManyMaps []float64 // the ratio in each cell
	for _, percent := range []int{1, 10, 50} {
		for _, limit := range []string{"512MiB", "256MiB", "50MiB"} {
			c := fmt.Sprintf("writes=%d%%/limit=%s", percent, limit)
			j.atMost(1.05, "x", j.ratio("hotswap", c, "PoolSwap", "Unsynchronized"), "hot swap, %d %% writes, %s, against no synchronization", percent, limit)
			if ratio := j.ratio("hotswap", c, "PoolSwap", "Unsynchronized+1"); !math.IsNaN(ratio) {
				asManyMaps = append(asManyMaps, ratio)
			}
			bytes = larger(bytes, j.median("hotswap", c, "PoolSwap", "B/op"))
			allocations = larger(allocations, j.median("hotswap", c, "PoolSwap", "allocs/op"))
			maps = larger(maps, largest(j.run.Find("hotswap", c, "PoolSwap").Values["maps/op"]))
		}
	}
	j.atMost(1.05, "x", stats.Of(asManyMaps).Median, "hot swap, median of all cells, against no synchronization with as many maps")
	j.atMost(0, "maps/op", maps, "hot swap, maps made in the worst sample of the table")
	j.atMost(16, "B/op", bytes, "hot swap, bytes allocated in the worst cell of the table")
	j.atMost(0, "allocs/op", math.Floor(allocations), "hot swap, allocations in the worst cell of the table")
}

// larger returns the larger number; NaN stands for none.
func larger(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// largest returns the largest value, or NaN if there is none.
func largest(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Max(values)
}

func (j *judge) pool() {
	for collections := range 4 {
		c := fmt.Sprintf("collections=%d", collections)
		j.atMost(0, "calls", j.median("cadence", c, "PoolSwap", "factory-calls"), "factory calls in 100 updates with %d collections between two", collections)
	}
	j.atMost(3, "objects", j.median("footprint", "procs=16", "PoolSwap", "live-objects"), "live objects after 3,000 updates by one writer, GOMAXPROCS 16")
	j.below(1000, "ns/op", j.median("cadence", "update=bare", "PoolSwap", "ns/op"), "Update without contention, beyond fill")
	j.atMost(0, "B/op", math.Floor(j.median("cadence", "update=bare", "PoolSwap", "B/op")), "Update without contention, bytes allocated")
}

func (j *judge) latency() {
	j.below(10_000, "max-ns", j.median("latency", "reads=last-release/procs=1", "PoolSwap", "max-ns"), "slowest Release of the last holder of a map of 100,000 entries, with no core to wake")
	j.atMost(0, "resets", j.resets("reads=last-release"), "resets run by a reader that was the last holder")
	j.atMost(0, "resets", j.resets("reads=all"), "resets run by readers while maps are swapped")
}

// resets returns the most resets that readers ran in any sample, or NaN.
func (j *judge) resets(c string) float64 {
	return largest(j.run.Find("latency", c, "PoolSwap").Values["reader-resets"])
}

func (j *judge) pooling() {
	const c = "work=log-line"
	j.below(1, "x", j.ratio("pooling", c, "typedpool", "Wrapper"), "a log line with typedpool against a typed wrapper of sync.Pool and time.Format")
	j.atMost(0, "B/op", math.Floor(j.median("pooling", c, "typedpool", "B/op")), "a log line with typedpool, bytes allocated")
	j.atMost(0, "allocs/op", math.Floor(j.median("pooling", c, "typedpool", "allocs/op")), "a log line with typedpool, allocations")
}

func (j *judge) delta() {
	const (
		small  = "changes=10/keys=10k"
		middle = "changes=10/keys=100k"
		large  = "changes=10/keys=1M"
	)
	j.atLeast(1000, "x", j.ratio("delta", middle, "Refill", "Oplog"), "10 changes of 100,000 keys: a full refill against oplog.Map")
	j.atLeast(100, "x", j.ratio("delta", middle, "CloneAtomicPtr", "Oplog"), "10 changes of 100,000 keys: maps.Clone against oplog.Map")
	byKeys := stats.Compare(j.run.Find("delta", large, "Oplog").Values["ns/op"], j.run.Find("delta", small, "Oplog").Values["ns/op"])
	j.atMost(2, "x", byKeys.Median, "10 changes with oplog.Map, 1,000,000 keys against 10,000")
	bytes := math.NaN()
	for _, c := range []string{small, middle, large} {
		bytes = larger(bytes, j.median("delta", c, "Oplog", "B/op"))
	}
	j.atMost(0, "B/op", math.Floor(bytes), "10 changes with oplog.Map, bytes allocated in the worst case")
	j.atMost(1.1, "x", j.ratio("delta", "goroutines=1/keys=100k", "Oplog", "PlainMap"), "a lookup in 100,000 keys with Reader.Load and View.Get against a plain map")
}
