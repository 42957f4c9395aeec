package runner

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Stopwatch says whether a goroutine of [Parallel] goes on.
type Stopwatch struct {
	start time.Time
	limit time.Duration
	begun bool
}

// Running reports whether the time is not up yet. The first call always does: a
// goroutine that the system wakes late works once, so that no sample is without
// an operation.
func (w *Stopwatch) Running() bool {
	if !w.begun {
		w.begun = true
		return true
	}
	return time.Since(w.start) < w.limit
}

// Parallel runs work on that many goroutines for about the time given and
// returns the time, bytes and allocations per operation, and the processor time
// where the system tells it. Each call of work does operations until the
// stopwatch has run out and returns how many. Where there is a processor for
// each they begin when all of them run, since to wake one can take as long as a
// short sample.
//
// The time per operation is that of the goroutines together: the inverse
// of the sum of their rates, each over its own time, so that one that ends
// late does not count as if all had.
func Parallel(goroutines int, limit time.Duration, work func(g int, w *Stopwatch) int) Sample {
	type tally struct {
		operations int
		elapsed    time.Duration
	}
	tallies := make([]tally, goroutines)
	watch := Stopwatch{limit: limit}
	gate := make(chan struct{})
	var ready, done sync.WaitGroup
	var arrived atomic.Int32
	var started atomic.Bool
	spins := goroutines <= min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	var cpuStart time.Duration
	for g := range goroutines {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			if int(arrived.Add(1)) == goroutines {
				cpuStart = cpuTime(false)
				watch.start = time.Now()
				started.Store(true)
			}
			for !started.Load() {
				if !spins {
					runtime.Gosched()
				}
			}
			own := watch
			operations := work(g, &own)
			tallies[g] = tally{operations, time.Since(own.start)}
		})
	}
	ready.Wait()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	close(gate)
	done.Wait()
	cpuEnd := cpuTime(false)
	runtime.ReadMemStats(&after)

	operations, rate := 0, 0.0
	for _, t := range tallies {
		operations += t.operations
		rate += float64(t.operations) / float64(t.elapsed.Nanoseconds())
	}
	n := float64(max(1, operations))
	sample := Sample{operations, map[string]float64{
		"ns/op":     1 / rate,
		"B/op":      float64(after.TotalAlloc-before.TotalAlloc) / n,
		"allocs/op": float64(after.Mallocs-before.Mallocs) / n,
	}}
	if cpuStart > 0 {
		sample.Values["cpu-ns/op"] = float64(cpuEnd-cpuStart) / n
	}
	return sample
}

// Warmed is Parallel after a quarter of the time to warm up.
func Warmed(goroutines int, limit time.Duration, work func(g int, w *Stopwatch) int) Sample {
	Parallel(goroutines, limit/4, work)
	return Parallel(goroutines, limit, work)
}

// Serial is Parallel with one goroutine.
func Serial(limit time.Duration, work func(w *Stopwatch) int) Sample {
	return Parallel(1, limit, func(_ int, w *Stopwatch) int { return work(w) })
}

// Blocks is Warmed with one goroutine, which looks at the clock after each block
// of n operations.
func Blocks(limit time.Duration, n int, block func()) Sample {
	return Warmed(1, limit, func(_ int, w *Stopwatch) (operations int) {
		for w.Running() {
			block()
			operations += n
		}
		return operations
	})
}
