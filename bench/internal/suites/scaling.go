package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// scaling is what goroutines read together on all cores.
func scaling() measure.Suite {
	s := measure.Suite{
		Name:  "scaling",
		Title: "Reads on all cores",
		About: "Goroutines do nothing but read a small object. The time is that of one operation of all goroutines together. " +
			"The writer replaces the object 1,000 times a second.",
		Time:      100 * time.Millisecond,
		FullTime:  100 * time.Millisecond,
		Columns:   []measure.Column{{Unit: "ns/op", Title: "time/op"}, {Unit: "swaps/s", Title: "swaps/s"}},
		OnRequest: true,
	}
	cores := runtime.GOMAXPROCS(0)
	for _, swaps := range []int{0, writerRate} {
		for goroutines := 1; goroutines <= max(16, cores); goroutines *= 2 {
			c := measure.Case{Name: fmt.Sprintf("goroutines=%d/writer=%s", goroutines, writerName(swaps)), Ours: "PoolSwap"}
			for _, way := range []string{"PoolSwap", "Portable", "Reader.Load", "atomic.Pointer", "RWMutex", "RWMutexRef"} {
				c.Rivals = append(c.Rivals, measure.Rival{Name: way, Sample: func(config measure.Config) (measure.Sample, error) {
					return sampleRead(config, way, cores, goroutines, swaps), nil
				}})
			}
			s.Cases = append(s.Cases, c)
		}
	}
	return s
}
