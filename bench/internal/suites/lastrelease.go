package suites

import (
	"runtime"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// lastRelease returns a case that runs with GOMAXPROCS set to procs, or left as
// it is if procs is 0.
func lastRelease(name string, procs int, names ...string) measure.Case {
	c := measure.Case{Name: name, Ours: "PoolSwap", Setup: 20 * time.Millisecond}
	for _, rival := range names {
		c.Rivals = append(c.Rivals, measure.Rival{Name: rival, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleLastRelease(config, rival, procs), nil
		}})
	}
	return c
}

// sampleLastRelease lets a reader hold each table across the update that
// replaces it.
func sampleLastRelease(config measure.Config, rival string, procs int) measure.Sample {
	if procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	}
	data := &latencyTable{entries: newEntries(config.Size(tableEntries))}
	f := data.functions()
	var s rivals.Shared[table]
	release := timeRelease
	switch rival {
	case "RWMutexRef":
		s = rivals.NewRWMutexRef(f)
	case "PoolSwap":
		s = rivals.NewPoolSwap(f, poolswap.Options[rivals.Object[table]]{})
	case "GoStatement":
		s = rivals.NewUnsynchronized(f, 2)
		release = timeGoStatement
	}
	rivals.Warm(s, f, 3)
	runtime.GC()
	h := newHistogram()
	sample := measure.Serial(config.Time, func(w *measure.Stopwatch) (operations int) {
		for w.Running() {
			held := s.Acquire()
			next := s.GetNew()
			f.Fill(&next.Value)
			s.Update(next)
			_ = h.RecordValue(int64(release(s, held)))
			operations++
			runtime.Gosched() // with one processor no other goroutine would run
		}
		return operations
	})
	addQuantiles(&sample, h)
	sample.Values["reader-resets"] = float64(data.readerResets.Load())
	return sample
}

// timeRelease is the reader of sampleLastRelease: a reset whose stack has it
// was run by a reader.
//
//go:noinline
func timeRelease(s rivals.Shared[table], held *rivals.Object[table]) time.Duration {
	start := time.Now()
	s.Release(held)
	return time.Since(start)
}

// timeGoStatement starts a goroutine in place of a Release.
func timeGoStatement(rivals.Shared[table], *rivals.Object[table]) time.Duration {
	start := time.Now()
	go func() {}()
	return time.Since(start)
}
