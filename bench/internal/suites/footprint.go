package suites

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

const footprintUpdates = 3000

// footprint is how much memory stays in use.
func footprint() measure.Suite {
	s := measure.Suite{
		Name:  "footprint",
		Title: "Memory after 3,000 updates",
		About: "One writer replaces an object of 256 KiB 3,000 times while as many readers as processors (GOMAXPROCS) read it. Counted are the objects " +
			"that exist afterwards, and the heap in use, garbage not yet collected included. With reader=holds one of the readers lets go of its object once in 1,000 updates only.",
		Columns: []measure.Column{{Unit: "live-objects", Title: "live objects"}, {Unit: "heap-bytes", Title: "heap in use"}},
	}
	s.Charts = []measure.Chart{{Title: "Live objects after 3,000 updates"}, {Title: "Heap in use after 3,000 updates"}}
	add := func(name, label string, procs int, holds bool) {
		c := measure.Case{Name: name, Ours: "PoolSwap", Untimed: true, Setup: 150 * time.Millisecond}
		for _, rival := range []string{"PoolSwap", "RWMutexRef", "AtomicPtr"} {
			c.Rivals = append(c.Rivals, measure.Rival{Name: rival, Sample: func(config measure.Config) (measure.Sample, error) {
				return sampleFootprint(config, rival, procs, holds), nil
			}})
		}
		s.Cases = append(s.Cases, c)
		for i, column := range s.Columns {
			s.Charts[i].Points = append(s.Charts[i].Points, measure.Point{Label: label, Case: name, Unit: column.Unit})
		}
	}
	for _, procs := range []int{1, 2, 8, 16} {
		add(fmt.Sprintf("procs=%d", procs), fmt.Sprintf("GOMAXPROCS %d", procs), procs, false)
	}
	add("procs=2/reader=holds", "GOMAXPROCS 2, a reader holds", 2, true)
	return s
}

func sampleFootprint(config measure.Config, rival string, procs int, holds bool) measure.Sample {
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

	s := newShared(rival, f)
	update(s, f)
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
		update(s, f)
		updates.Add(1)
		runtime.Gosched() // the writer changes processors, as it does in a service
	}
	stop.Store(true)
	readers.Wait()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(s)
	return measure.Sample{Iterations: config.Size(footprintUpdates), Values: map[string]float64{
		"live-objects": float64(live.Load()),
		"heap-bytes":   float64(after.HeapAlloc) - float64(before.HeapAlloc),
	}}
}
