package suites

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

const updatesPerCadence = 100

// cadence is what garbage collections between two updates do to the pool.
func cadence() measure.Suite {
	s := measure.Suite{
		Name:  "cadence",
		Title: "100 updates with garbage collections in between",
		About: "The object is a map of 10,000 entries. Counted are the new objects that an update has to make although old ones are free, and the bytes " +
			"allocated. The published poolswap made 2, 59, 100 and 100. update=bare is an update of a small object that is not filled.",
		Time:     30 * time.Millisecond,
		FullTime: 100 * time.Millisecond,
		Columns: []measure.Column{
			{Unit: "factory-calls", Title: "factory calls"},
			{Unit: "B/update", Title: "B/update"},
			{Unit: "ns/op", Title: "time/update"},
			{Unit: "B/op", Title: "B/op"},
		},
	}
	calls := measure.Chart{Title: "Factory calls in 100 updates, by collections between two"}
	for collections := range 4 {
		c := measure.Case{Name: fmt.Sprintf("collections=%d", collections), Ours: "PoolSwap", Untimed: true, Setup: time.Duration(60+80*collections) * time.Millisecond}
		for _, name := range []string{"PoolSwap", "RWMutexRef", "AtomicPtr"} {
			c.Rivals = append(c.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
				return sampleCadence(config, name, collections), nil
			}})
		}
		s.Cases = append(s.Cases, c)
		calls.Points = append(calls.Points, measure.Point{Label: fmt.Sprintf("%d collections", collections), Case: c.Name, Unit: "factory-calls"})
	}
	bare := measure.Case{Name: "update=bare", Ours: "PoolSwap"}
	for _, name := range []string{"PoolSwap", "RWMutexRef", "AtomicPtr"} {
		bare.Rivals = append(bare.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleUpdate(config, name), nil
		}})
	}
	s.Cases = append(s.Cases, bare)
	s.Charts = []measure.Chart{calls, {Title: "An update that fills nothing", Points: []measure.Point{{Label: "time", Case: bare.Name, Unit: "ns/op"}}}}
	return s
}

func sampleCadence(config measure.Config, rival string, collections int) measure.Sample {
	f := newEntries(config.Size(10_000)).functions()
	var made atomic.Int64
	f.Made = func(*rivals.Object[table]) { made.Add(1) }
	s := newShared(rival, f)
	rivals.Warm(s, f, 3)
	for range 10 { // until objects are where they stay in the long run
		update(s, f)
	}
	updates := config.Size(updatesPerCadence)
	warm := made.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range updates {
		for range collections {
			runtime.GC()
		}
		update(s, f)
	}
	runtime.ReadMemStats(&after)
	return measure.Sample{Iterations: updates, Values: map[string]float64{
		"factory-calls": float64(made.Load() - warm),
		"B/update":      float64(after.TotalAlloc-before.TotalAlloc) / float64(updates),
	}}
}

// newShared sets up a rival for one writer.
func newShared[T any](rival string, f *rivals.Functions[T]) rivals.Shared[T] {
	switch rival {
	case "PoolSwap":
		return rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[T]]{})
	case "RWMutexRef":
		return rivals.NewRWMutexRef(f)
	case "AtomicPtr":
		return rivals.NewAtomicPtr(f)
	case "MutexAlloc":
		return rivals.NewMutexAlloc(f)
	}
	panic("bench: no rival " + rival)
}

func update[T any](s rivals.Shared[T], f *rivals.Functions[T]) {
	obj := s.GetNew()
	f.Fill(&obj.Value)
	s.Update(obj)
}

func sampleUpdate(config measure.Config, rival string) measure.Sample {
	small := &rivals.Functions[int]{New: func() int { return 1 }, Reset: func(*int) {}, Fill: func(*int) {}}
	s := newShared(rival, small)
	rivals.Warm(s, small, 3)
	work := func(w *measure.Stopwatch) (operations int) {
		for w.Running() {
			for range 256 {
				s.Update(s.GetNew())
			}
			operations += 256
		}
		return operations
	}
	measure.Serial(config.Time/4, work)
	return measure.Serial(config.Time, work)
}
