package suites

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

const writerRate = 1000 // swaps per second, where there is a writer

// read is what a read costs by itself.
func read() measure.Suite {
	s := measure.Suite{
		Name:  "read",
		Title: "One read, alone and with others",
		About: "Goroutines do nothing but read a small object. The time is that of one operation of all goroutines together; " +
			"multiplied by the cores in use it is the time of one operation on its core. The writer swaps the object 1,000 times a second.",
		Time:     15 * time.Millisecond,
		FullTime: 60 * time.Millisecond,
		Columns:  []measure.Column{{Unit: "ns/op", Title: "time/op"}, {Unit: "core-ns/op", Title: "per core"}, {Unit: "swaps/s", Title: "swaps/s"}},
	}
	for _, writer := range []string{"none", "1000"} {
		for _, procs := range []int{1, 2} {
			chart := measure.Chart{Kind: measure.Lines, Axis: "goroutines", Title: fmt.Sprintf("Time per read and core by goroutines, GOMAXPROCS %d, %s", procs, map[string]string{"none": "no writer", "1000": "1,000 swaps/s"}[writer])}
			for _, goroutines := range []int{1, 2, 4, 8} {
				c := measure.Case{
					Name: fmt.Sprintf("procs=%d/goroutines=%d/writer=%s", procs, goroutines, writer),
					Ours: "PoolSwap",
				}
				for _, name := range readers.names {
					c.Rivals = append(c.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
						return sampleRead(config, readers.make[name](), procs, goroutines, writer != "none"), nil
					}})
				}
				s.Cases = append(s.Cases, c)
				chart.Points = append(chart.Points, measure.Point{Label: fmt.Sprint(goroutines), Case: c.Name, Unit: "core-ns/op"})
			}
			s.Charts = append(s.Charts, chart)
		}
	}
	return s
}

func sampleRead(config measure.Config, r reader, procs, goroutines int, writer bool) measure.Sample {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	loops := make([]readLoop, goroutines)
	for g := range loops {
		loops[g] = r.loop()
	}
	var swaps atomic.Int64
	work := func(g int, w *measure.Stopwatch) (operations int) {
		// The batch is long enough to hide the cost of the clock and short
		// enough to let the writer run in time on one core.
		const batch = 1 << 13
		found := 0
		for w.Running() {
			found += loops[g].read(batch)
			operations += batch
			if writer {
				runtime.Gosched()
			}
		}
		sink.Add(int64(found))
		return operations
	}
	measure.Parallel(goroutines, config.Time/4, work)
	if writer {
		defer startWriter(func() { r.update(); swaps.Add(1) })()
	}
	swapped, started := swaps.Load(), time.Now()
	sample := measure.Parallel(goroutines, config.Time, work)
	if writer {
		sample.Values["swaps/s"] = float64(swaps.Load()-swapped) / time.Since(started).Seconds()
	}
	for g := range loops {
		loops[g].close()
	}
	sample.Values["core-ns/op"] = sample.Values["ns/op"] * float64(min(procs, goroutines))
	return sample
}

// startWriter calls update at the rate of the writer until stop is called.
func startWriter(update func()) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(time.Second / writerRate)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				update()
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}
