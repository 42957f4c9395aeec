package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/dataset"
	"github.com/poolswap/poolswap/bench/internal/measure"
)

const (
	slabRecords = 20_000
	slabCase    = "records=20000"
)

// slab is where recycling pays: the same data decoded into a map of strings and
// into a slab, each time into new memory or into recycled memory.
func slab() measure.Suite {
	return measure.Suite{
		Name:  "slab",
		Title: "Loading a real table: map of strings or slab, fresh or recycled",
		About: fmt.Sprintf("A load decodes %d,000 records from a text in memory: Debian's package index where the machine has it, else a synthetic text of the same shape. "+
			"The map holds a struct of strings for each record; the slab holds all bytes in one slice and all records, by offsets into it, in another, with an index.", slabRecords/1000),
		Time:     80 * time.Millisecond,
		FullTime: 400 * time.Millisecond,
		Columns:  []measure.Column{{Unit: "ns/load", Title: "time/load"}, {Unit: "B/load", Title: "allocated/load"}, {Unit: "allocs/load", Title: "allocs/load"}},
		Charts: []measure.Chart{
			{Title: "Time per load", Points: []measure.Point{{Label: "time", Case: slabCase, Unit: "ns/load"}}},
			{Title: "Memory allocated per load", Points: []measure.Point{{Label: "allocated", Case: slabCase, Unit: "B/load"}}},
		},
		Cases: []measure.Case{{
			Name: slabCase, Ours: "slab-recycled", Setup: 20 * time.Millisecond,
			Rivals: []measure.Rival{
				loader("map-fresh", func() dataset.Loader { return new(dataset.Map) }, true),
				loader("map-recycled", func() dataset.Loader { return new(dataset.Map) }, false),
				loader("slab-fresh", func() dataset.Loader { return new(dataset.Slab) }, true),
				loader("slab-recycled", func() dataset.Loader { return new(dataset.Slab) }, false),
			},
		}},
	}
}

func loader(name string, newTable func() dataset.Loader, fresh bool) measure.Rival {
	return measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
		text, source, err := dataset.Text(config.Size(slabRecords))
		if err != nil {
			return measure.Sample{}, fmt.Errorf("%s: %w", source, err)
		}
		table := newTable()
		table.Load(text) // a recycled one has its memory before the clock starts
		runtime.GC()
		sample := measure.Serial(config.Time, func(w *measure.Stopwatch) (loads int) {
			for w.Running() {
				if fresh {
					table = newTable()
				}
				table.Load(text)
				loads++
			}
			return loads
		})
		runtime.KeepAlive(table)
		return measure.Sample{Iterations: sample.Iterations, Values: map[string]float64{
			"ns/load": sample.Values["ns/op"], "B/load": sample.Values["B/op"], "allocs/load": sample.Values["allocs/op"],
			"real-data": map[bool]float64{true: 1}[source != dataset.Synthetic],
		}}, nil
	}}
}
