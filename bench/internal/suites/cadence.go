package suites

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

var recyclers = []string{"PoolSwap", "RWMutexRef", "AtomicPtr"}

// cadence is the effect of garbage collections between two updates on the pool.
func cadence() runner.Suite {
	s := runner.Suite{
		Name:  "cadence",
		Title: "100 updates with garbage collections in between",
		About: "The object is a map of 10,000 entries. Counted are the new objects that an update has to make although old ones are free, and the bytes " +
			"allocated. The published poolswap made 2, 59, 100 and 100. update=bare is an update of a small object that is not filled.",
		Time:     30 * time.Millisecond,
		FullTime: 100 * time.Millisecond,
		Columns:  runner.Columns("factory-calls", "factory calls", "B/update", "B/update", "ns/op", "time/update", "B/op", "B/op"),
	}
	for collections := range 4 {
		s.Cases = append(s.Cases, runner.Case{
			Name: fmt.Sprintf("collections=%d", collections), Ours: "PoolSwap", Setup: time.Duration(30+80*collections) * time.Millisecond,
			Rivals: each(recyclers, func(config runner.Config, rival string) (runner.Sample, error) {
				return sampleCadence(config, rival, collections), nil
			}),
		})
	}
	s.Cases = append(s.Cases, runner.Case{Name: "update=bare", Ours: "PoolSwap", Rivals: each(recyclers, sampleUpdate)})
	s.Charts = []runner.Chart{bars(&s, "Factory calls in 100 updates, by collections between two", "factory-calls", "collections", ""), bars(&s, "An update that fills nothing", "ns/op", "update", "")}
	return s
}

func sampleCadence(config runner.Config, rival string, collections int) runner.Sample {
	f := newEntries(config.Size(10_000)).functions()
	var made atomic.Int64
	f.Made = func(*rivals.Object[table]) { made.Add(1) }
	s := rivals.New(rival, f, 0)
	rivals.Warm(s, f, 3)
	for range 10 { // until objects are where they stay in the long run
		f.Replace(s)
	}
	updates := config.Size(100)
	warm := made.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range updates {
		for range collections {
			runtime.GC()
		}
		f.Replace(s)
	}
	runtime.ReadMemStats(&after)
	return runner.Sample{Iterations: updates, Values: map[string]float64{
		"factory-calls": float64(made.Load() - warm),
		"B/update":      float64(after.TotalAlloc-before.TotalAlloc) / float64(updates),
	}}
}

func sampleUpdate(config runner.Config, rival string) (runner.Sample, error) {
	bare := &rivals.Functions[int]{New: func() int { return 1 }, Reset: func(*int) {}, Fill: func(*int) {}}
	s := rivals.New(rival, bare, 0)
	rivals.Warm(s, bare, 3)
	return runner.Blocks(config.Time, 256, func() {
		for range 256 {
			s.Update(s.GetNew())
		}
	}), nil
}
