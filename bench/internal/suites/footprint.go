package suites

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

const footprintUpdates = 3000

// footprint is how much memory stays in use.
func footprint() runner.Suite {
	s := runner.Suite{
		Name:  "footprint",
		Title: "Memory after 3,000 updates",
		About: "One writer replaces an object of 256 KiB 3,000 times while as many readers as processors (GOMAXPROCS) read it. Counted are the objects " +
			"that exist afterwards, and the heap in use, garbage not yet collected included. With reader=holds one of the readers lets go of its object once in 1,000 updates only.",
		Columns: runner.Columns("live-objects", "live objects", "heap-bytes", "heap in use"),
	}
	for _, c := range []struct {
		name  string
		procs int
		holds bool
	}{{"procs=1", 1, false}, {"procs=2", 2, false}, {"procs=8", 8, false}, {"procs=16", 16, false}, {"procs=2/reader=holds", 2, true}} {
		s.Cases = append(s.Cases, runner.Case{Name: c.name, Ours: "PoolSwap", Setup: 150 * time.Millisecond, Rivals: each(recyclers, func(config runner.Config, rival string) (runner.Sample, error) {
			return sampleFootprint(config, rival, c.procs, c.holds), nil
		})})
	}
	s.Charts = []runner.Chart{bars(&s, "Live objects after 3,000 updates", "live-objects", "procs", ""), bars(&s, "Heap in use after 3,000 updates", "heap-bytes", "procs", "")}
	return s
}

func sampleFootprint(config runner.Config, rival string, procs int, holds bool) runner.Sample {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	content := make([]byte, config.Size(256<<10))
	var live atomic.Int64
	f := &rivals.Functions[[]byte]{
		New:   func() []byte { return make([]byte, 0, len(content)) },
		Reset: func(b *[]byte) { *b = (*b)[:0] },
		Fill:  func(b *[]byte) { *b = append(*b, content...) },
		Made: func(obj *rivals.Object[[]byte]) {
			live.Add(1)
			runtime.AddCleanup(obj, func(live *atomic.Int64) { live.Add(-1) }, &live)
		},
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	s := rivals.New(rival, f, 0)
	f.Replace(s)
	var updates atomic.Int64
	var stop atomic.Bool
	var readers sync.WaitGroup
	for g := range procs {
		readers.Go(func() {
			for !stop.Load() {
				obj := s.Acquire()
				sink.Add(int64(len(obj.Value)))
				if holds && g == 0 {
					for since := updates.Load(); updates.Load() < since+footprintUpdates/3 && !stop.Load(); {
						runtime.Gosched()
					}
				}
				s.Release(obj)
				time.Sleep(50 * time.Microsecond) // readers pause; they do not spin
			}
		})
	}
	for range config.Size(footprintUpdates) {
		f.Replace(s)
		updates.Add(1)
		runtime.Gosched() // the writer changes processors, as it does in a service
	}
	stop.Store(true)
	readers.Wait()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(s)
	return runner.Sample{Iterations: config.Size(footprintUpdates), Values: map[string]float64{
		"live-objects": float64(live.Load()),
		"heap-bytes":   float64(after.HeapAlloc) - float64(before.HeapAlloc),
	}}
}
