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
			"Unsynchronized is no way to share, but the limit: each goroutine fills and reads a map of its own. " +
			"Unsynchronized+1 is the limit with as many maps as a way needs that leaves the old one readable: one more in all. " +
			"Go's maps split a part of themselves in 1 of some 400 fills, whoever shares them; that is 80 KiB, and shows in B/op here and there.",
		Time:     80 * time.Millisecond,
		FullTime: 300 * time.Millisecond,
		Columns:  []measure.Column{{Unit: "ns/op", Title: "time/op"}, {Unit: "B/op", Title: "B/op"}, {Unit: "allocs/op", Title: "allocs/op"}, {Unit: "maps/op", Title: "maps made/op"}},
	}
	for _, percent := range []int{1, 10, 50} {
		chart := measure.Chart{Title: fmt.Sprintf("Time per operation, %d %% writes, by memory limit", percent)}
		for _, mib := range []int{512, 256, 50} {
			c := measure.Case{
				Name:        fmt.Sprintf("writes=%d%%/limit=%dMiB", percent, mib),
				Ours:        "PoolSwap",
				MemoryLimit: fmt.Sprintf("%dMiB", mib),
				Setup:       30 * time.Millisecond,
			}
			for i, name := range hotswapRivals {
				c.Rivals = append(c.Rivals, measure.Rival{
					Name:      name,
					Published: publishedHotswap[percent][mib][i] / publishedHotswap[percent][mib][0],
					Sample:    func(config measure.Config) (measure.Sample, error) { return sampleHotswap(config, name, percent), nil },
				})
			}
			s.Cases = append(s.Cases, c)
			chart.Points = append(chart.Points, measure.Point{Label: fmt.Sprintf("%d MiB", mib), Case: c.Name, Unit: "ns/op"})
		}
		s.Charts = append(s.Charts, chart)
	}
	return s
}

var hotswapRivals = [...]string{"PoolSwap", "AtomicPtr", "MutexAlloc", "MutexInPlace", "RWMutexRef", "Unsynchronized", "Unsynchronized+1"}

// publishedHotswap is the published time per operation in µs by share of
// writes and memory limit, in the order of the rivals; 0 where nothing was
// published. Measured on an Apple M1 Pro with 10 cores, Go 1.25.1.
var publishedHotswap = map[int]map[int][len(hotswapRivals)]float64{
	1: {
		512: {5.2, 9.2, 8.7, 18.0},
		256: {5.2, 8.4, 8.3, 17.8},
		50:  {6.6, 27.9, 25.6, 17.8},
	},
	10: {
		512: {51.3, 105.9, 92.9, 198.9},
		256: {49.6, 88.2, 88.5, 200.8},
		50:  {67.4, 349.7, 295.5, 200.5},
	},
	50: {
		512: {277, 570, 550, 1211},
		256: {315, 496, 507, 1289},
		50:  {336, 2997, 2789, 1092},
	},
}

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
	sample := measure.Parallel(goroutines, config.Time, work)
	sample.Values["maps/op"] = float64(made.Load()-warm) / float64(sample.Iterations)
	return sample
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
	for g := range mixers {
		mixers[g].shared = shared
	}
	return mixers
}

// newSharedTable sets up a rival for that many writers at a time.
func newSharedTable(rival string, f *rivals.Functions[table], writers int) rivals.Shared[table] {
	switch rival {
	case "PoolSwap":
		return rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[table]]{Spares: writers + 1})
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
