package suites

import (
	"runtime"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

const slabRecords = 20_000

// slab is where recycling pays: the same data decoded into a map of strings and
// into a slab, each time into new memory or into recycled memory.
func slab() runner.Suite {
	s := runner.Suite{
		Name:  "slab",
		Title: "Loading a table: map of strings or slab, fresh or recycled",
		About: "A load decodes 20,000 records from a text in memory, of the shape of Debian's package index. " +
			"The map holds a struct of strings for each record; the slab holds all bytes in one slice and all records, by offsets into it, in another, with an index.",
		Time:     80 * time.Millisecond,
		FullTime: 400 * time.Millisecond,
		Columns:  runner.Columns("ns/load", "time/load", "B/load", "allocated/load", "allocs/load", "allocs/load"),
		Cases: []runner.Case{{
			Name: "records=20000", Ours: "slab-recycled", Setup: 20 * time.Millisecond,
			Rivals: each([]string{"map-fresh", "map-recycled", "slab-fresh", "slab-recycled"}, sampleLoad),
		}},
	}
	s.Charts = []runner.Chart{bars(&s, "Time per load", "ns/load", "records", ""), bars(&s, "Memory allocated per load", "B/load", "records", "")}
	return s
}

func sampleLoad(config runner.Config, rival string) (runner.Sample, error) {
	records := config.Size(slabRecords)
	text := packageIndex(records)
	newTable := func() packages { return make(packageMap, records) }
	if strings.HasPrefix(rival, "slab") {
		newTable = func() packages { return new(packageSlab) }
	}
	table := newTable()
	table.load(text) // a recycled one has its memory before the clock starts
	runtime.GC()
	sample := runner.Serial(config.Time, func(w *runner.Stopwatch) (loads int) {
		for w.Running() {
			if strings.HasSuffix(rival, "fresh") {
				table = newTable()
			}
			table.load(text)
			loads++
		}
		return loads
	})
	runtime.KeepAlive(table)
	return runner.Sample{Iterations: sample.Iterations, Values: map[string]float64{
		"ns/load": sample.Values["ns/op"], "B/load": sample.Values["B/op"], "allocs/load": sample.Values["allocs/op"],
	}}, nil
}
