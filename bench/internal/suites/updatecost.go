package suites

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// updateObjects is how many objects an update has in use: the current one, the one
// that is filled, and one that is clean.
const updateObjects = 3

// updateCost takes an update apart.
func updateCost() measure.Suite {
	s := measure.Suite{
		Name:  "update",
		Title: "What an update costs, taken apart, by GOMAXPROCS",
		About: "An update of a small object that is not filled: GetNew and Update. PoolSwap counts its readers in the cheapest way that the system allows, and Portable with atomic " +
			"operations. fence is the system call membarrier alone, which PoolSwap makes once in each update. sum adds up the counters of one object, again and again: " +
			"a stripe for each processor and one more, each a cache line that is read twice. Turns is the sum of three objects in turn, as an update finds them in the caches. With readers=others, goroutines on all cores but one acquire and release " +
			"all the time; where one of them holds the old object, it ends it in place of the writer.",
		Time:     20 * time.Millisecond,
		FullTime: 50 * time.Millisecond,
		Columns: []measure.Column{
			{Unit: "ns/op", Title: "time/update"},
			{Unit: "cpu-ns/op", Title: "CPU time/update"},
			{Unit: "fence-ns", Title: "fence"},
			{Unit: "sum-ns", Title: "sum"},
			{Unit: "turns-ns", Title: "turns"},
			{Unit: "stripes", Title: "stripes"},
		},
		OnRequest: true,
	}
	for _, readers := range []string{"none", "others"} {
		chart := measure.Chart{Title: "Time of an update by stripes, and the line through it, readers: " + readers, Kind: measure.Plot, Axis: "stripes", X: "stripes", Fit: true}
		for _, procs := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256} {
			if readers != "none" && procs == 1 {
				continue // no reader runs while the writer does
			}
			c := measure.Case{Name: fmt.Sprintf("readers=%s/procs=%d", readers, procs), Ours: "PoolSwap", OwnProcess: true, Setup: 80 * time.Millisecond}
			for _, name := range []string{"PoolSwap", "Portable"} {
				c.Rivals = append(c.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
					return sampleUpdateCost(config, name == "Portable", readers != "none", procs)
				}})
			}
			s.Cases = append(s.Cases, c)
			chart.Points = append(chart.Points, measure.Point{Case: c.Name, Unit: "ns/op"})
		}
		s.Charts = append(s.Charts, chart)
	}
	return s
}

func sampleUpdateCost(config measure.Config, portable, read bool, procs int) (measure.Sample, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	small := &rivals.Functions[int]{New: func() int { return 1 }, Reset: func(*int) {}, Fill: func(*int) {}}
	s := rivals.NewPoolSwap(small, poolswap.Options[rivals.Object[int]]{Portable: portable})
	rivals.Warm(s, small, updateObjects)
	if read {
		defer readElsewhere(s.Container, min(procs, runtime.NumCPU())-1)()
	}
	sample := timeEach(config, 64, func() { s.Update(s.GetNew()) })
	delete(sample.Values, "B/op")
	delete(sample.Values, "allocs/op")
	if read {
		delete(sample.Values, "cpu-ns/op") // it has the readers' in it
	}

	var all [updateObjects]*stripe.Counters
	for i := range all {
		all[i] = stripe.New(portable)
	}
	counters := all[0]
	var sum uint64
	sample.Values["sum-ns"] = timeEach(config, 64, func() { sum += counters.Released() + counters.Acquired() }).Values["ns/op"]
	turn := 0
	sample.Values["turns-ns"] = timeEach(config, 64, func() {
		turn = (turn + 1) % len(all)
		sum += all[turn].Released() + all[turn].Acquired()
	}).Values["ns/op"]
	sink.Add(int64(sum)) //nolint:gosec // it is 0
	sample.Values["stripes"] = float64(seam.Stripes() + 1)

	if counters.CountsPlain() {
		var failed error
		fence := timeEach(config, 64, func() {
			if err := counters.HeavyFence(); err != nil {
				failed = err
			}
		})
		if failed != nil {
			return sample, fmt.Errorf("membarrier: %w", failed)
		}
		sample.Values["fence-ns"] = fence.Values["ns/op"]
	}
	return sample, nil
}

// timeEach times an operation, block by block, after a warm-up.
func timeEach(config measure.Config, block int, operation func()) measure.Sample {
	work := func(w *measure.Stopwatch) (operations int) {
		for w.Running() {
			for range block {
				operation()
			}
			operations += block
		}
		return operations
	}
	measure.Serial(config.Time/4, work)
	return measure.Serial(config.Time, work)
}

// readElsewhere reads on that many goroutines until stop is called.
func readElsewhere(c *poolswap.Container[rivals.Object[int], *rivals.Object[int]], goroutines int) (stop func()) {
	var end atomic.Bool
	var readers sync.WaitGroup
	for range goroutines {
		readers.Go(func() {
			found := 0
			for !end.Load() {
				obj := c.Acquire()
				found += obj.Value
				c.Release(obj)
			}
			sink.Add(int64(found))
		})
	}
	return func() {
		end.Store(true)
		readers.Wait()
	}
}
