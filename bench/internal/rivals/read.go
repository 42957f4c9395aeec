package rivals

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// Read lets that many goroutines read for a time, after a quarter of it to
// warm up, while a writer swaps the object so many times a second, if any.
func Read(s SmallShared, goroutines int, limit time.Duration, swapsPerSecond int) runner.Sample {
	readers := make([]reader, goroutines)
	for g := range readers {
		readers[g] = s.reader()
	}
	work := func(g int, w *runner.Stopwatch) (reads int) {
		// The batch is long enough to hide the cost of the clock and short
		// enough to let the writer run in time on one core.
		const batch = 1 << 13
		for w.Running() {
			readers[g].batch(batch)
			reads += batch
			if swapsPerSecond > 0 {
				runtime.Gosched()
			}
		}
		return reads
	}
	runner.Parallel(goroutines, limit/4, work) // to warm up
	var swaps atomic.Int64
	if swapsPerSecond > 0 {
		value := uint64(1)
		defer startWriter(swapsPerSecond, func() {
			value++
			s.swap(value)
			swaps.Add(1)
		})()
	}
	swapped, started := swaps.Load(), time.Now()
	sample := runner.Parallel(goroutines, limit, work)
	if swapsPerSecond > 0 {
		sample.Values["swaps/s"] = float64(swaps.Load()-swapped) / time.Since(started).Seconds()
	}
	for g := range readers {
		readers[g].close()
	}
	if s.objects != nil {
		sample.Values["objects"] = float64(s.objects())
	}
	return sample
}

// startWriter calls swap that many times a second until stop is called.
func startWriter(perSecond int, swap func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(time.Second / time.Duration(perSecond))
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				swap()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}
