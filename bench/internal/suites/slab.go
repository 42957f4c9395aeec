package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/dataset"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

const slabRecords = 20_000

// slab is where recycling pays: the same data decoded into a map of strings and
// into a slab, each time into new memory or into recycled memory.
func slab() runner.Suite {
	s := runner.Suite{
		Name:  "slab",
		Title: "Loading a real table: map of strings or slab, fresh or recycled",
		About: fmt.Sprintf("A load decodes %d,000 records from a text in memory: Debian's package index where the machine has it, else a synthetic text of the same shape. "+
			"The map holds a struct of strings for each record; the slab holds all bytes in one slice and all records, by offsets into it, in another, with an index.", slabRecords/1000),
		Time:     80 * time.Millisecond,
		FullTime: 400 * time.Millisecond,
		Columns:  runner.Columns("ns/load", "time/load", "B/load", "allocated/load", "allocs/load", "allocs/load"),
		Cases: []runner.Case{{
			Name: fmt.Sprintf("records=%d", slabRecords), Ours: "slab-recycled", Setup: 20 * time.Millisecond,
			Rivals: each([]string{"map-fresh", "map-recycled", "slab-fresh", "slab-recycled"}, sampleLoad),
		}},
	}
	s.Charts = []runner.Chart{bars(&s, "Time per load", "ns/load", "records", ""), bars(&s, "Memory allocated per load", "B/load", "records", "")}
	return s
}

func sampleLoad(config runner.Config, rival string) (runner.Sample, error) {
	text, source, err := dataset.Text(config.Size(slabRecords))
	if err != nil {
		return runner.Sample{}, fmt.Errorf("%s: %w", source, err)
	}
	newTable := func() dataset.Loader { return new(dataset.Map) }
	if rival == "slab-fresh" || rival == "slab-recycled" {
		newTable = func() dataset.Loader { return new(dataset.Slab) }
	}
	table := newTable()
	table.Load(text) // a recycled one has its memory before the clock starts
	runtime.GC()
	sample := runner.Serial(config.Time, func(w *runner.Stopwatch) (loads int) {
		for w.Running() {
			if rival == "map-fresh" || rival == "slab-fresh" {
				table = newTable()
			}
			table.Load(text)
			loads++
		}
		return loads
	})
	runtime.KeepAlive(table)
	return runner.Sample{Iterations: sample.Iterations, Values: map[string]float64{
		"ns/load": sample.Values["ns/op"], "B/load": sample.Values["B/op"], "allocs/load": sample.Values["allocs/op"],
		"real-data": map[bool]float64{true: 1}[source != dataset.Synthetic],
	}}, nil
}
