package suites

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/slab"
)

// publishedSwap is the table of the published library, in µs and bytes for each
// operation, by share of writes and memory limit, for the first four rivals.
// Measured on an Apple M1 Pro with 10 cores, Go 1.25.1.
var publishedSwap = map[int]map[int][4][2]float64{
	1: {
		512: {{5.2, 276}, {9.2, 52_495}, {8.7, 52_489}, {18.0, 81}},
		256: {{5.2, 305}, {8.4, 52_490}, {8.3, 52_488}, {17.8, 77}},
		50:  {{6.6, 563}, {27.9, 52_515}, {25.6, 52_519}, {17.8, 79}},
	},
	10: {
		512: {{51.3, 2_880}, {105.9, 547_803}, {92.9, 541_441}, {198.9, 958}},
		256: {{49.6, 2_569}, {88.2, 543_597}, {88.5, 542_299}, {200.8, 943}},
		50:  {{67.4, 3_628}, {349.7, 586_419}, {295.5, 583_806}, {200.5, 963}},
	},
	50: {
		512: {{277, 13.4 * 1024}, {570, 2.9 * mib}, {550, 2.9 * mib}, {1211, 6.2 * 1024}},
		256: {{315, 16.4 * 1024}, {496, 2.9 * mib}, {507, 2.9 * mib}, {1289, 6.0 * 1024}},
		50:  {{336, 16.3 * 1024}, {2997, 5.1 * mib}, {2789, 5.1 * mib}, {1092, 5.3 * 1024}},
	},
}

var swapRivals = []string{"PoolSwap", "AtomicPtr", "MutexAlloc", "MutexInPlace", "RWMutexRef", "Unsynchronized", "Unsynchronized+1", inSlab}

// inSlab is PoolSwap with a slab.Strings for the map.
const inSlab = "PoolSwap+slab"

// hotswap is the published table: reads and writes of one big map, mixed.
func hotswap() runner.Suite {
	s := runner.Suite{
		Name:  "hotswap",
		Title: "Hot swap of a map of 100,000 entries, reads and writes mixed",
		About: "As many goroutines as cores read one key or, in the share of operations given, replace the whole map. " +
			"Unsynchronized is the lower limit without sharing: each goroutine fills and reads a map of its own. " +
			"Unsynchronized+1 has one map more, as any way needs that keeps the old map readable. " +
			"PoolSwap+slab has the entries in a slab.Strings, which copies each string; the Go maps of the others share strings that exist before. " +
			"Go's maps split a part of themselves in 1 of some 400 fills, in every rival; that is 80 KiB, and shows in some cells of B/op.",
		Time:     80 * time.Millisecond,
		FullTime: 300 * time.Millisecond,
		Columns: runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "B/op", "B/op", "allocs/op", "allocs/op",
			"maps/op", "maps made/op", "gcs/s", "collections/s"),
	}
	swapCases(&s, swapRivals, sampleHotswap)
	for i := range s.Cases {
		for j, cell := range publishedSwap[swapMixes[i].percent][swapMixes[i].limit] {
			s.Cases[i].Rivals[j].Published = map[string]float64{"ns/op": 1000 * cell[0], "B/op": cell[1]}
		}
	}
	return s
}

// swapMixes are the shares of writes and the memory limits, in MiB, of the published
// table.
var swapMixes = []struct{ percent, limit int }{{1, 512}, {1, 256}, {1, 50}, {10, 512}, {10, 256}, {10, 50}, {50, 512}, {50, 256}, {50, 50}}

// swapCases adds the cases of the published table to a suite, and their charts.
func swapCases(s *runner.Suite, names []string, sample func(config runner.Config, rival string, percent int) runner.Sample) {
	for _, mix := range swapMixes {
		s.Cases = append(s.Cases, runner.Case{
			Name:        fmt.Sprintf("writes=%d%%/limit=%dMiB", mix.percent, mix.limit),
			Ours:        names[0],
			MemoryLimit: fmt.Sprintf("%dMiB", mix.limit),
			Setup:       30 * time.Millisecond,
			Rivals: each(names, func(config runner.Config, rival string) (runner.Sample, error) {
				return sample(config, rival, mix.percent), nil
			}),
		})
	}
	for _, percent := range []int{1, 10, 50} {
		s.Charts = append(s.Charts, bars(s, fmt.Sprintf("Time per operation, %d %% writes, by memory limit", percent), "ns/op", "limit", fmt.Sprintf("writes=%d%%", percent)))
	}
}

// parsed is the published table with strings that each fill makes from a text.
func parsed() runner.Suite {
	s := runner.Suite{
		Name:  "parsed",
		Title: "Hot swap of a map of 100,000 entries that are parsed from lines of text",
		About: "The operations of hotswap, but each replacement parses a text, as a service does that loads a file. The Go maps take new strings; PoolSwap+slab copies into a slab.Strings.",
		Time:  80 * time.Millisecond, FullTime: 300 * time.Millisecond,
		Columns: runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "B/op", "B/op", "allocs/op", "allocs/op", "gcs/s", "collections/s"),
	}
	swapCases(&s, []string{inSlab, "PoolSwap", "AtomicPtr"}, func(config runner.Config, rival string, percent int) runner.Sample {
		data := newEntries(config.Size(tableEntries))
		if rival == inSlab {
			return sampleSwaps(config, "PoolSwap", percent, data.keys, data.parsingToSlab(), slabLength)
		}
		return sampleSwaps(config, rival, percent, data.keys, data.parsing(), mapLength)
	})
	return s
}

// spares is how the default number of spares compares with one that is set,
// where several writers replace the object at a time.
func spares() runner.Suite {
	s := runner.Suite{
		Name:  "spares",
		Title: "Many writers: a spare for each, or the default",
		About: "The hot swap with 50 % writes under a limit of 50 MiB, by as many goroutines as the case has writers (GOMAXPROCS too). WriterSpares is " +
			"PoolSwap with Options.Spares set to the number of writers. DefaultSpares leaves it alone: as many as were being filled at a time lately. " +
			"Further free maps go to a sync.Pool, which collections empty.",
		Time:     300 * time.Millisecond,
		FullTime: time.Second,
		Columns:  runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "maps/op", "maps made/op", "B/op", "B/op", "gcs/s", "collections/s"),
	}
	for _, writers := range []int{2, 4, 10} {
		s.Cases = append(s.Cases, runner.Case{
			Name: fmt.Sprintf("writers=%d", writers), Ours: "WriterSpares", MemoryLimit: "50MiB",
			Setup: time.Duration(40+10*writers) * time.Millisecond,
			Rivals: each([]string{"WriterSpares", "DefaultSpares", "RWMutexRef", "AtomicPtr"}, func(config runner.Config, rival string) (runner.Sample, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(writers))
				return sampleHotswap(config, rival, 50), nil
			}),
		})
	}
	s.Charts = []runner.Chart{bars(&s, "Time per operation, by number of writers", "ns/op", "writers", "")}
	return s
}

func sampleHotswap(config runner.Config, rival string, percent int) runner.Sample {
	data := newEntries(config.Size(tableEntries))
	if rival == inSlab {
		return sampleSwaps(config, "PoolSwap", percent, data.keys, data.inSlab(), slabLength)
	}
	return sampleSwaps(config, rival, percent, data.keys, data.functions(), mapLength)
}

func mapLength(t *table, key string) int { return len((*t)[key]) }

func slabLength(t **slab.Strings, key string) int {
	value, _ := (*t).Get(key)
	return len(value)
}

func sampleSwaps[T any](config runner.Config, rival string, percent int, keys []string, f *rivals.Functions[T], length func(*T, string) int) runner.Sample {
	var made atomic.Int64
	f.Made = func(*rivals.Object[T]) { made.Add(1) }
	goroutines := runtime.GOMAXPROCS(0)
	shared := newSwapRivals(rival, f, goroutines)
	work := func(g int, w *runner.Stopwatch) int {
		return mix(shared[g], keys, length, f, 100/percent, w, rand.New(rand.NewPCG(uint64(g), 1)))
	}
	runtime.GC() // garbage of the set-up is none of its cost
	runner.Parallel(goroutines, config.Time/4, work)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	warm, started := made.Load(), time.Now()
	sample := runner.Parallel(goroutines, config.Time, work)
	runtime.ReadMemStats(&after)
	sample.Values["gcs/s"] = float64(after.NumGC-before.NumGC) / time.Since(started).Seconds()
	sample.Values["maps/op"] = float64(made.Load()-warm) / float64(sample.Iterations)
	return sample
}

// newSwapRivals sets up a rival for each goroutine, one and the same but for
// Unsynchronized, with its working set in being.
func newSwapRivals[T any](rival string, f *rivals.Functions[T], goroutines int) []rivals.Shared[T] {
	all := make([]rivals.Shared[T], goroutines)
	if strings.HasPrefix(rival, "Unsynchronized") {
		for g := range all {
			all[g] = rivals.New("Unsynchronized", f, 0)
		}
		all[0] = rivals.New(rival, f, 0)
		return all
	}
	name, spares := rival, goroutines+1
	switch rival {
	case "WriterSpares":
		name, spares = "PoolSwap", goroutines
	case "DefaultSpares":
		name, spares = "PoolSwap", 0
	}
	shared := rivals.New(name, f, spares)
	// One object is current, and each goroutine has one in its hands: it fills
	// it, reads it, or resets it. One more is with the sweeper.
	rivals.Warm(shared, f, goroutines+2)
	if rival == "DefaultSpares" {
		// The pool forgets how many objects it took to warm it, in more Gets than a peak
		// is remembered for: its spares follow the work that is measured.
		for range 300 {
			shared.Update(shared.GetNew())
		}
		rivals.Warm(shared, f, goroutines) // as many as the work fills at a time
	}
	for g := range all {
		all[g] = shared
	}
	return all
}

// mix does blocks of operations: in each block one, at a random place, is a write
// and the others are reads. The share of writes is exact, and yet writers do not
// march in step.
func mix[T any](s rivals.Shared[T], keys []string, length func(*T, string) int, f *rivals.Functions[T], block int, w *runner.Stopwatch, random *rand.Rand) (operations int) {
	found := 0
	for w.Running() {
		write := random.IntN(block)
		for i := range block {
			if i == write {
				f.Replace(s)
				continue
			}
			obj := s.Acquire()
			found += length(&obj.Value, keys[random.IntN(len(keys))])
			s.Release(obj)
		}
		operations += block
	}
	sink.Add(int64(found))
	return operations
}
