package suites

import (
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// pooling is what pools of small and short-lived objects are worth.
func pooling() measure.Suite {
	s := measure.Suite{
		Name:  "pooling",
		Title: "Pools of short-lived objects",
		About: "log-line writes a timestamped key=value line. struct8k uses a struct of 8 KiB for a moment. small uses 10,000 small objects one after the " +
			"other in each operation; small-gc uses 100 and forces a garbage collection after each. Go1.12 and Go1.13 are sync.Pool as it was up to, and as it " +
			"is since, these versions, written afresh.",
		Time:     40 * time.Millisecond,
		FullTime: 150 * time.Millisecond,
		Columns:  []measure.Column{{Unit: "ns/op", Title: "time/op"}, {Unit: "B/op", Title: "B/op"}, {Unit: "allocs/op", Title: "allocs/op"}},
	}
	add := func(name, ours, base, label string, rivals ...measure.Rival) {
		s.Cases = append(s.Cases, measure.Case{Name: "work=" + name, Ours: ours, Base: base, Rivals: rivals})
		s.Charts = append(s.Charts, measure.Chart{Title: label, Points: []measure.Point{{Label: "time", Case: "work=" + name, Unit: "ns/op"}, {Label: "allocated", Case: "work=" + name, Unit: "B/op"}}})
	}
	add("log-line", "typedpool", "Wrapper", "A log line",
		measure.Rival{Name: "NoPool", Published: published(183.2, 72, 2), Sample: timed(logNoPool)},
		measure.Rival{Name: "Wrapper", Published: published(155.2, 8, 1), Sample: timed(logWrapper)},
		measure.Rival{Name: "typedpool", Sample: timed(logTypedpool)})
	add("struct8k", "typedpool", "sync.Pool", "A struct of 8 KiB",
		measure.Rival{Name: "NoPool", Published: published(705.4, 8192, 1), Sample: timed(structNoPool)},
		measure.Rival{Name: "sync.Pool", Published: published(7.455, 0, 0), Sample: timed(structSyncPool)},
		measure.Rival{Name: "typedpool", Sample: timed(structTypedpool)})
	const few, many = 100, 10_000
	add("small", "typedpool", "sync.Pool", "10,000 small objects", smallRivals(many, false)...)
	add("small-gc", "poolswap", "sync.Pool", "100 small objects, a collection after each", smallRivals(few, true)...)
	s.Cases[len(s.Cases)-1].Setup = 150 * time.Millisecond // its operations are long
	return s
}

func published(ns, bytes, allocs float64) map[string]float64 {
	return map[string]float64{"ns/op": ns, "B/op": bytes, "allocs/op": allocs}
}

// timed makes a sample of a function that does its operation n times.
func timed(operation func(n int)) func(measure.Config) (measure.Sample, error) {
	return func(config measure.Config) (measure.Sample, error) {
		work := func(w *measure.Stopwatch) (operations int) {
			for w.Running() {
				operation(256)
				operations += 256
			}
			return operations
		}
		measure.Serial(config.Time/4, work)
		return measure.Serial(config.Time, work), nil
	}
}
