package suites

import (
	"runtime"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/readparts"
)

// readParts takes a read apart.
func readParts() measure.Suite {
	c := measure.Case{Name: "procs=1/goroutines=1", Ours: "PoolSwap"}
	if readsThroughAssembly() {
		for _, part := range readparts.All() {
			c.Rivals = append(c.Rivals, measure.Rival{Name: part.Name, Sample: func(config measure.Config) (measure.Sample, error) {
				return samplePart(part, config), nil
			}})
		}
	}
	for _, way := range []string{"PoolSwap", "WithAcquire", "Portable", "RWMutexRef", "atomic.Pointer", "Reader.Load"} {
		c.Rivals = append(c.Rivals, measure.Rival{Name: way, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleRead(config, way, 1, 1, 0), nil
		}})
	}
	return measure.Suite{
		Name:  "parts",
		Title: "A read, taken apart",
		About: "EmptyCalls are two calls of assembly functions that return at once, with the arguments and results of Acquire and Release. FindProcessor " +
			"also finds the number of the processor in each, CountPlainly adds one to a counter there, CountLocked does so with a locked instruction. " +
			"The others are whole reads of one goroutine, which also check and load the object.",
		Time:      15 * time.Millisecond,
		FullTime:  60 * time.Millisecond,
		Columns:   []measure.Column{{Unit: "ns/op", Title: "time/op"}},
		Cases:     []measure.Case{c},
		OnRequest: true,
	}
}

// readsThroughAssembly reports whether the parts are those of this process: the
// assembly of both finds the processor at the same offsets.
func readsThroughAssembly() bool {
	return poolswap.NewPool(func() *counted { return new(counted) }, nil).Stats().ReadPath == "assembly"
}

// counted is an object of a pool that is asked how its objects are read.
type counted struct{ poolswap.Ref }

func samplePart(part readparts.Part, config measure.Config) measure.Sample {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const batch = 1 << 13
	work := func(_ int, w *measure.Stopwatch) (done int) {
		for w.Running() {
			part.Loop(batch)
			done += batch
		}
		return done
	}
	measure.Parallel(1, config.Time/4, work)
	return measure.Parallel(1, config.Time, work)
}
