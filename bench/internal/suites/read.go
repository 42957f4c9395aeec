package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/reads"
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
	ways := []string{"PoolSwap", "WithAcquire", "Reader.Load", "Portable", "atomic.Pointer", "RWMutex", "RWMutexRef"}
	for _, swaps := range []int{0, writerRate} {
		for _, procs := range []int{1, 2} {
			chart := measure.Chart{Kind: measure.Lines, Axis: "goroutines", Title: fmt.Sprintf("Time per read and core by goroutines, GOMAXPROCS %d, %s", procs, writerTitle(swaps))}
			for _, goroutines := range []int{1, 2, 4, 8} {
				c := measure.Case{
					Name: fmt.Sprintf("procs=%d/goroutines=%d/writer=%s", procs, goroutines, writerName(swaps)),
					Ours: "PoolSwap",
				}
				for _, way := range ways {
					c.Rivals = append(c.Rivals, measure.Rival{Name: way, Sample: func(config measure.Config) (measure.Sample, error) {
						return sampleRead(config, way, procs, goroutines, swaps), nil
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

// writerName is the part of a case's name that says how often the object is
// replaced.
func writerName(swaps int) string {
	if swaps == 0 {
		return "none"
	}
	return fmt.Sprint(swaps)
}

// writerTitle says the same in the title of a chart.
func writerTitle(swaps int) string {
	if swaps == 0 {
		return "no writer"
	}
	return fmt.Sprintf("%d,%03d swaps/s", swaps/1000, swaps%1000)
}

func sampleRead(config measure.Config, way string, procs, goroutines, swaps int) measure.Sample {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	sample := reads.Measure(reads.Ways[way](), goroutines, config.Time, swaps)
	sample.Values["core-ns/op"] = sample.Values["ns/op"] * float64(min(procs, goroutines))
	return sample
}
