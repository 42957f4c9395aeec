package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// spares is how the default number of spares compares with one that is set,
// where several writers replace the object at a time.
func spares() measure.Suite {
	s := measure.Suite{
		Name:  "spares",
		Title: "Many writers: a spare for each, or the default",
		About: "The hot swap with 50 % writes under a limit of 50 MiB, by as many goroutines as the case has writers (GOMAXPROCS too). WriterSpares is " +
			"PoolSwap with Options.Spares set to the number of writers. DefaultSpares leaves it alone: as many as were being filled at a time lately. " +
			"Further free maps go to a sync.Pool, which collections empty.",
		Time:     300 * time.Millisecond,
		FullTime: time.Second,
		Columns: []measure.Column{
			{Unit: "ns/op", Title: "time/op"},
			{Unit: "cpu-ns/op", Title: "CPU time/op"},
			{Unit: "maps/op", Title: "maps made/op"},
			{Unit: "B/op", Title: "B/op"},
			{Unit: "gcs/s", Title: "collections/s"},
		},
	}
	times := measure.Chart{Title: "Time per operation, by number of writers"}
	for _, writers := range []int{2, 4, 10} {
		c := measure.Case{
			Name: fmt.Sprintf("writers=%d", writers), Ours: "WriterSpares", MemoryLimit: "50MiB",
			Setup: time.Duration(40+10*writers) * time.Millisecond,
		}
		for _, name := range []string{"WriterSpares", "DefaultSpares", "RWMutexRef", "AtomicPtr"} {
			c.Rivals = append(c.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(writers))
				return sampleHotswap(config, name, 50), nil
			}})
		}
		s.Cases = append(s.Cases, c)
		times.Points = append(times.Points, measure.Point{Label: fmt.Sprintf("%d writers", writers), Case: c.Name, Unit: "ns/op"})
	}
	s.Charts = []measure.Chart{times}
	return s
}
