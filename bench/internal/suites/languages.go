package suites

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/program"
)

// contender is a rival of the suite: a program of bench/rivals, and its name
// for the way.
type contender struct {
	program, way string
	promise      measure.Promise
}

// contenders are the rivals in the order in which they are shown.
var contenders = []contender{
	{"go", "PoolSwap", measure.Promise{Rival: "PoolSwap", Is: "this library, Acquire and Release", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "WithAcquire", measure.Promise{Rival: "WithAcquire", Is: "the same around a function", Passes: "no", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "Portable", measure.Promise{Rival: "Portable", Is: "PoolSwap without membarrier", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go-purego", "PoolSwap", measure.Promise{Rival: "Purego", Is: "the build with -tags purego", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "Reader.Load", measure.Promise{Rival: "Reader.Load", Is: "this library in a loop", Passes: "no", Prompt: "at the next Load", Recycled: "yes", Waits: "no"}},
	{"go", "atomic.Pointer", measure.Promise{Rival: "atomic.Pointer", Is: "Go, a new object each time", Passes: "yes", Prompt: "by the collector", Recycled: "no", Waits: "no"}},
	{"go", "RWMutexRef", measure.Promise{Rival: "RWMutexRef", Is: "Go, RWMutex and count", Passes: "yes", Prompt: "yes", Recycled: "until a collection", Waits: "yes"}},
	{"go", "RBMutex", measure.Promise{Rival: "RBMutex", Is: "Go, xsync v4.5.0", Passes: "yes", Prompt: "in place", Recycled: "in place", Waits: "yes"}},
	{"rust", "arc-swap", measure.Promise{Rival: "arc-swap", Is: "Rust, arc-swap 1.9.3, load", Passes: "yes", Prompt: "yes", Recycled: "no", Waits: "no"}},
	{"rust", "arc-swap-cache", measure.Promise{Rival: "arc-swap-cache", Is: "Rust, arc-swap 1.9.3, Cache", Passes: "no", Prompt: "at the next load", Recycled: "no", Waits: "no"}},
	{"rust", "crossbeam-epoch", measure.Promise{Rival: "crossbeam-epoch", Is: "Rust, crossbeam-epoch 0.9.21, pin", Passes: "no", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "seize", measure.Promise{Rival: "seize", Is: "Rust, seize 0.5.1, enter", Passes: "no", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "haphazard", measure.Promise{Rival: "haphazard", Is: "Rust, haphazard 0.1.8, hazard pointer", Passes: "yes", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "left-right", measure.Promise{Rival: "left-right", Is: "Rust, left-right 0.11.8", Passes: "no", Prompt: "in place", Recycled: "in place", Waits: "no"}},
	{"rust", "parking-lot", measure.Promise{Rival: "parking-lot", Is: "Rust, parking_lot 0.13.0, RwLock", Passes: "no", Prompt: "in place", Recycled: "in place", Waits: "yes"}},
	{"c", "urcu-memb", measure.Promise{Rival: "urcu-memb", Is: "C, liburcu, memb", Passes: "no", Prompt: "yes", Recycled: "by hand", Waits: "no"}},
	{"c", "urcu-qsbr", measure.Promise{Rival: "urcu-qsbr", Is: "C, liburcu, qsbr", Passes: "no", Prompt: "yes", Recycled: "by hand", Waits: "no"}},
}

// languages compares a read with those of libraries in other languages.
func languages() measure.Suite {
	s := measure.Suite{
		Name:  "rivals",
		Title: "One read, beside Rust and C",
		About: "Each rival is a process of its own, whose threads do nothing but take the guard of a small object, read one word of it and give the guard " +
			"back. All check what they read. The time is that of one read of all threads together. The writer, if there is one, swaps the object up to " +
			"1,000 times a second; a rival whose writer waits for readers does fewer swaps. Objects are the most that existed at a time. urcu-qsbr tells of a " +
			"quiescent state after each read.",
		Time:      100 * time.Millisecond,
		FullTime:  200 * time.Millisecond,
		Columns:   []measure.Column{{Unit: "ns/op", Title: "time/op"}, {Unit: "core-ns/op", Title: "per core"}, {Unit: "cpu-ns/op", Title: "CPU time/op"}, {Unit: "swaps/s", Title: "swaps/s"}, {Unit: "objects", Title: "objects"}},
		OnRequest: true,
	}
	for _, c := range contenders {
		s.Promises = append(s.Promises, c.promise)
	}
	for _, swaps := range []int{0, writerRate} {
		chart := measure.Chart{Kind: measure.Bars, Title: "Time per read and core, " + writerTitle(swaps)}
		for _, threads := range threadCounts(runtime.NumCPU()) {
			c := measure.Case{
				Name:  fmt.Sprintf("threads=%d/writer=%s", threads, writerName(swaps)),
				Ours:  "PoolSwap",
				Setup: 30 * time.Millisecond,
			}
			for _, of := range contenders {
				c.Rivals = append(c.Rivals, measure.Rival{Name: of.promise.Rival, Sample: func(config measure.Config) (measure.Sample, error) {
					sample, err := program.Sample(of.program, of.way, threads, swaps, config)
					if swaps == 0 {
						delete(sample.Values, "swaps/s")
					}
					if err == nil {
						sample.Values["core-ns/op"] = sample.Values["ns/op"] * float64(min(threads, runtime.NumCPU()))
					}
					return sample, err
				}})
			}
			s.Cases = append(s.Cases, c)
			chart.Points = append(chart.Points, measure.Point{Label: fmt.Sprintf("threads=%d", threads), Case: c.Name, Unit: "core-ns/op"})
		}
		s.Charts = append(s.Charts, chart)
	}
	return s
}

// threadCounts are one, two, and as many as there are cores.
func threadCounts(cores int) []int { return slices.Compact([]int{1, 2, max(2, cores)}) }
