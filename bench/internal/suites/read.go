package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// writers are the rates of the writer, in swaps a second, by the name that cases
// have for them.
var writers = []struct {
	name  string
	swaps int
}{{"none", 0}, {"1000", 1000}}

// read is the cost of a read by itself.
func read() runner.Suite {
	s := runner.Suite{
		Name:  "read",
		Title: "One read, alone and with others",
		About: "Goroutines do nothing but read a small object. The time is that of one operation of all goroutines together; " +
			"multiplied by the cores in use it is the time of one operation on its core. The writer swaps the object 1,000 times a second.",
		Time:     15 * time.Millisecond,
		FullTime: 60 * time.Millisecond,
		Columns:  runner.Columns("ns/op", "time/op", "core-ns/op", "per core", "swaps/s", "swaps/s"),
	}
	ways := []string{"PoolSwap", "WithAcquire", "Reader.Load", "Portable", "atomic.Pointer", "RWMutex", "RWMutexRef"}
	for _, writer := range writers {
		for _, procs := range []int{1, 2} {
			for _, goroutines := range []int{1, 2, 4, 8} {
				s.Cases = append(s.Cases, readCase(fmt.Sprintf("procs=%d/goroutines=%d/writer=%s", procs, goroutines, writer.name), ways, procs, goroutines, writer.swaps))
			}
		}
	}
	for _, procs := range []int{1, 2} {
		s.Charts = append(s.Charts, runner.Chart{
			Title: fmt.Sprintf("Time per read and core by goroutines, GOMAXPROCS %d, no writer", procs), Axis: "goroutines", Log: true,
			Points: points(&s, "core-ns/op", "goroutines", fmt.Sprintf("procs=%d/", procs))[:4],
		})
	}
	return s
}

// scaling is the cost of reads by goroutines on all cores.
func scaling() runner.Suite {
	s := runner.Suite{
		Name:  "scaling",
		Title: "Reads on all cores",
		About: "Goroutines do nothing but read a small object. The time is that of one operation of all goroutines together. " +
			"The writer replaces the object 1,000 times a second.",
		Time:      100 * time.Millisecond,
		FullTime:  100 * time.Millisecond,
		Columns:   runner.Columns("ns/op", "time/op", "swaps/s", "swaps/s"),
		OnRequest: true,
	}
	cores := runtime.GOMAXPROCS(0)
	ways := []string{"PoolSwap", "Portable", "Reader.Load", "atomic.Pointer", "RWMutex", "RWMutexRef"}
	for _, writer := range writers {
		for goroutines := 1; goroutines <= max(16, cores); goroutines *= 2 {
			s.Cases = append(s.Cases, readCase(fmt.Sprintf("goroutines=%d/writer=%s", goroutines, writer.name), ways, cores, goroutines, writer.swaps))
		}
		s.Charts = append(s.Charts, runner.Chart{
			Title: "Time per read by goroutines, writer: " + writer.name, Axis: "goroutines", Log: true, Points: points(&s, "ns/op", "goroutines", "writer="+writer.name),
		})
	}
	return s
}

func readCase(name string, ways []string, procs, goroutines, swaps int) runner.Case {
	return runner.Case{Name: name, Ours: "PoolSwap", Rivals: each(ways, func(config runner.Config, way string) (runner.Sample, error) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return sampleRead(config, way, goroutines, swaps), nil
	})}
}

func sampleRead(config runner.Config, way string, goroutines, swaps int) runner.Sample {
	sample := rivals.Read(rivals.Reads[way](), goroutines, config.Time, swaps)
	sample.Values["core-ns/op"] = sample.Values["ns/op"] * float64(min(runtime.GOMAXPROCS(0), goroutines))
	return sample
}
