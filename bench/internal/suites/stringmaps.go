package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/stringmaps"
)

// stringMaps is a map of strings that is loaded again and again.
func stringMaps() runner.Suite {
	s := runner.Suite{
		Name:  "strings",
		Title: "A map of strings to strings: load, look up, iterate, collect",
		About: "Strings is slab.Strings. MapNew is a Go map made for each load, MapCleared one that is cleared, and MapOfSlab one that is cleared and whose strings are in a slab.Bytes; " +
			"Swiss is the cleared map of github.com/cockroachdb/swiss. Values have 12 bytes; short keys have 16, long ones 100. " +
			"An operation is one entry: loaded from bytes or from strings into a map of a warm process, found, not found, or iterated, and a byte of each string is read; with work=collect it is a collection while the map is alive.",
		Time:      50 * time.Millisecond,
		FullTime:  200 * time.Millisecond,
		Columns:   runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "B/op", "B/op", "heap-bytes", "memory"),
		OnRequest: true,
	}
	for _, size := range []struct {
		entries    int
		name, keys string
		keyLength  int
	}{{1_000, "1k", "short", 16}, {100_000, "100k", "short", 16}, {100_000, "100k", "long", 100}, {1_000_000, "1M", "short", 16}, {10_000_000, "10M", "short", 16}} {
		works := []string{"load-bytes", "load-strings", "hit", "miss", "iterate", "collect"}
		if size.entries > 1_000_000 {
			works = []string{"load-bytes", "hit", "miss"} // the others take long, and show nothing new
		}
		for _, work := range works {
			c := runner.Case{
				Name: fmt.Sprintf("work=%s/keys=%s/entries=%s", work, size.keys, size.name), Ours: "Strings",
				Setup: time.Duration(10+size.entries/1_000) * time.Millisecond,
				Rivals: each(stringmaps.Names, func(config runner.Config, rival string) (runner.Sample, error) {
					return sampleStringMap(config, rival, work, stringmaps.NewRows(config.Size(size.entries), size.keyLength)), nil
				}),
			}
			if size.entries >= 1_000_000 {
				c.MostRounds = max(2, 4_000_000/size.entries)
			}
			s.Cases = append(s.Cases, c)
		}
	}
	for _, work := range []string{"load-bytes", "hit", "miss"} {
		s.Charts = append(s.Charts, runner.Chart{Title: "Time per entry, work=" + work, Axis: "entries", Log: true, Points: points(&s, "ns/op", "entries", "work="+work+"/keys=short")})
	}
	return s
}

func sampleStringMap(config runner.Config, rival, work string, rows *stringmaps.Rows) runner.Sample {
	n := len(rows.Keys)
	m := stringmaps.New(rival)
	m.LoadBytes(rows)
	if work == "collect" {
		rows = nil // they are none of the map
		runtime.GC()
	}
	read := func(keys []string) func() int {
		at := 0
		return func() int {
			some := keys[at:min(at+1_000, n)]
			at = (at + len(some)) % n
			sink.Add(int64(m.Get(some)))
			return len(some)
		}
	}
	var block func() (operations int)
	switch work {
	case "load-bytes":
		block = func() int { m.LoadBytes(rows); return n }
	case "load-strings":
		block = func() int { m.LoadStrings(rows); return n }
	case "hit":
		block = read(rows.Hits)
	case "miss":
		block = read(rows.Misses)
	case "iterate":
		block = func() int { sink.Add(int64(m.All())); return n }
	case "collect":
		block = func() int { runtime.GC(); return 1 }
	}
	sample := runner.Warmed(1, config.Time, func(_ int, w *runner.Stopwatch) (operations int) {
		for w.Running() {
			operations += block()
		}
		return operations
	})
	if work == "collect" {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		sample.Values["heap-bytes"] = float64(memory.HeapAlloc) // of a process that has little else
	}
	runtime.KeepAlive(m)
	return sample
}
