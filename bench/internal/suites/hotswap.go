package suites

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// hotswap is the published table: reads and writes of one big map, mixed.
func hotswap() measure.Suite {
	s := measure.Suite{
		Name:  "hotswap",
		Title: "Hot swap of a map of 100,000 entries, reads and writes mixed",
		About: "As many goroutines as cores read one key or, in the share of operations given, replace the whole map. " +
			"Unsynchronized is the lower limit without sharing: each goroutine fills and reads a map of its own. " +
			"Unsynchronized+1 has one map more, as any way needs that keeps the old map readable. " +
			"Go's maps split a part of themselves in 1 of some 400 fills, in every rival; that is 80 KiB, and shows in some cells of B/op.",
		Time:     80 * time.Millisecond,
		FullTime: 300 * time.Millisecond,
		Columns: []measure.Column{
			{Unit: "ns/op", Title: "time/op"},
			{Unit: "cpu-ns/op", Title: "CPU time/op"},
			{Unit: "B/op", Title: "B/op"},
			{Unit: "allocs/op", Title: "allocs/op"},
			{Unit: "maps/op", Title: "maps made/op"},
			{Unit: "gcs/s", Title: "collections/s"},
		},
	}
	for _, percent := range []int{1, 10, 50} {
		chart := measure.Chart{Title: fmt.Sprintf("Time per operation, %d %% writes, by memory limit", percent)}
		for _, limit := range []int{512, 256, 50} {
			c := measure.Case{
				Name:        fmt.Sprintf("writes=%d%%/limit=%dMiB", percent, limit),
				Ours:        "PoolSwap",
				MemoryLimit: fmt.Sprintf("%dMiB", limit),
				Setup:       30 * time.Millisecond,
			}
			for i, name := range hotswapRivals {
				c.Rivals = append(c.Rivals, measure.Rival{
					Name:      name,
					Published: publishedHotswap(percent, limit, i),
					Sample:    func(config measure.Config) (measure.Sample, error) { return sampleHotswap(config, name, percent), nil },
				})
			}
			s.Cases = append(s.Cases, c)
			chart.Points = append(chart.Points, measure.Point{Label: fmt.Sprintf("%d MiB", limit), Case: c.Name, Unit: "ns/op"})
		}
		s.Charts = append(s.Charts, chart)
	}
	return s
}

var hotswapRivals = [...]string{"PoolSwap", "AtomicPtr", "MutexAlloc", "MutexInPlace", "RWMutexRef", "Unsynchronized", "Unsynchronized+1"}

func sampleHotswap(config measure.Config, rival string, percent int) measure.Sample {
	data := newEntries(config.Size(tableEntries))
	f := data.functions()
	var made atomic.Int64
	f.Made = func(*rivals.Object[table]) { made.Add(1) }
	goroutines := runtime.GOMAXPROCS(0)
	workers := newMixers(rival, f, goroutines)
	for g := range workers {
		workers[g].mix = mix{data: data, fill: f.Fill, block: 100 / percent}
	}
	work := func(g int, w *measure.Stopwatch) int { return workers[g].run(w, rand.New(rand.NewPCG(uint64(g), 1))) }
	runtime.GC() // what other rivals left is none of this one's cost
	measure.Parallel(goroutines, config.Time/4, work)
	warm := made.Load()
	collections, started := collectionsSoFar(), time.Now()
	sample := measure.Parallel(goroutines, config.Time, work)
	sample.Values["gcs/s"] = float64(collectionsSoFar()-collections) / time.Since(started).Seconds()
	sample.Values["maps/op"] = float64(made.Load()-warm) / float64(sample.Iterations)
	return sample
}

// collectionsSoFar returns how many garbage collections have ended.
func collectionsSoFar() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// mixer is one goroutine's view of a shared table.
type mixer struct {
	shared rivals.Shared[table]
	mix
}

// newMixers sets up a rival, with its working set in being.
func newMixers(rival string, f *rivals.Functions[table], goroutines int) []mixer {
	mixers := make([]mixer, goroutines)
	if more, ok := strings.CutPrefix(rival, "Unsynchronized"); ok {
		for g := range mixers {
			copies := 1
			if g == 0 && more == "+1" {
				copies = 2
			}
			mixers[g].shared = rivals.NewUnsynchronized(f, copies)
		}
		return mixers
	}
	shared := newSharedTable(rival, f, goroutines)
	// One object is current, and each goroutine has one in its hands: it fills
	// it, reads it, or resets it. One more is with the sweeper.
	rivals.Warm(shared, f, goroutines+2)
	if rival == "DefaultSpares" {
		forgetPeak(shared)
		rivals.Warm(shared, f, goroutines) // as many as the work fills at a time
	}
	for g := range mixers {
		mixers[g].shared = shared
	}
	return mixers
}

// forgetPeak makes a pool forget how many objects it took to warm it, so that its
// default number of spares follows the work that is measured: it fills one object
// at a time, in more Gets than a peak is remembered for.
func forgetPeak(shared rivals.Shared[table]) {
	for range 300 {
		shared.Update(shared.GetNew())
	}
}

// newSharedTable sets up a rival for that many writers at a time.
func newSharedTable(rival string, f *rivals.Functions[table], writers int) rivals.Shared[table] {
	switch rival {
	case "PoolSwap":
		return rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[table]]{Spares: writers + 1})
	case "WriterSpares":
		return rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[table]]{Spares: writers})
	case "DefaultSpares":
		return rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[table]]{})
	case "AtomicPtr":
		return rivals.NewAtomicPtr(f)
	case "MutexAlloc":
		return rivals.NewMutexAlloc(f)
	case "MutexInPlace":
		return rivals.NewMutexInPlace(f)
	case "RWMutexRef":
		return rivals.NewRWMutexRef(f)
	}
	panic("bench: no rival " + rival)
}

// mix is a sequence of blocks of operations: in each block one, at a random
// place, is a write and the others are reads. The share of writes is exact,
// and yet writers do not march in step.
type mix struct {
	data  *entries
	fill  func(*table)
	block int
}

func (m *mixer) run(w *measure.Stopwatch, random *rand.Rand) (operations int) {
	keys := m.data.keys
	found := 0
	for w.Running() {
		write := random.IntN(m.block)
		for i := range m.block {
			if i == write {
				obj := m.shared.GetNew()
				m.fill(&obj.Value)
				m.shared.Update(obj)
				continue
			}
			obj := m.shared.Acquire()
			found += len(obj.Value[keys[random.IntN(len(keys))]])
			m.shared.Release(obj)
		}
		operations += m.block
	}
	sink.Add(int64(found))
	return operations
}
