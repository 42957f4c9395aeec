package suites

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// lastRelease is the latency of the Release after which an object can be recycled.
func lastRelease() runner.Suite {
	s := runner.Suite{
		Name:  "latency",
		Title: "Release by the last holder of a map of 100,000 entries",
		About: "The Release of the last holder of a map that has been replaced. There RWMutexRef empties the map, and PoolSwap starts a goroutine that will; " +
			"GoStatement only starts one: most of its time goes to waking an idle core. With procs=1 (GOMAXPROCS) there is no core to wake.",
		Time:     250 * time.Millisecond,
		FullTime: time.Second,
		Columns:  runner.Columns("p99-ns", "p99", "p50-ns", "p50", "p99.9-ns", "p99.9", "max-ns", "max", "reader-resets", "resets by readers"),
	}
	for _, c := range []struct {
		name  string
		procs int // 0 leaves GOMAXPROCS as it is
		names []string
	}{
		{"reads=last-release", 0, []string{"PoolSwap", "GoStatement", "RWMutexRef"}},
		{"reads=last-release/procs=1", 1, []string{"PoolSwap", "RWMutexRef"}},
	} {
		s.Cases = append(s.Cases, runner.Case{Name: c.name, Ours: "PoolSwap", Setup: 20 * time.Millisecond, Rivals: each(c.names, func(config runner.Config, rival string) (runner.Sample, error) {
			return sampleLastRelease(config, rival, c.procs), nil
		})})
	}
	for _, unit := range []string{"p50-ns", "max-ns"} {
		s.Charts = append(s.Charts, runner.Chart{Title: "Release by the last holder, " + strings.TrimSuffix(unit, "-ns"), Points: []runner.Point{
			{Label: "all cores", Case: s.Cases[0].Name, Unit: unit}, {Label: "one core", Case: s.Cases[1].Name, Unit: unit},
		}})
	}
	return s
}

// sampleLastRelease lets a reader hold each table across the update that
// replaces it.
func sampleLastRelease(config runner.Config, rival string, procs int) runner.Sample {
	if procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	}
	f := newEntries(config.Size(tableEntries)).functions()
	var readerResets atomic.Int64
	reset := f.Reset
	f.Reset = func(t *table) {
		if onReader() {
			readerResets.Add(1)
		}
		reset(t)
	}
	name, release := rival, timeRelease
	if rival == "GoStatement" {
		name, release = "Unsynchronized+1", timeGoStatement
	}
	s := rivals.New(name, f, 0)
	rivals.Warm(s, f, 3)
	runtime.GC()
	h := newHistogram()
	sample := runner.Serial(config.Time, func(w *runner.Stopwatch) (operations int) {
		for w.Running() {
			held := s.Acquire()
			f.Replace(s)
			_ = h.RecordValue(int64(release(s, held)))
			operations++
			runtime.Gosched() // with one processor no other goroutine would run
		}
		return operations
	})
	addQuantiles(&sample, h)
	sample.Values["reader-resets"] = float64(readerResets.Load())
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

// onReader reports whether a function below timeRelease calls it.
func onReader() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, ".timeRelease") {
			return true
		}
		if !more {
			return false
		}
	}
}

// timeGoStatement starts a goroutine in place of a Release.
func timeGoStatement(rivals.Shared[table], *rivals.Object[table]) time.Duration {
	start := time.Now()
	go func() {}()
	return time.Since(start)
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, time.Minute.Nanoseconds(), 3) }

// quantiles are the units of latencies, and the share of them, in per cent, that
// are at most as long.
var quantiles = []struct {
	unit    string
	percent float64
}{{"p50-ns", 50}, {"p90-ns", 90}, {"p99-ns", 99}, {"p99.9-ns", 99.9}, {"p99.99-ns", 99.99}, {"p99.999-ns", 99.999}, {"max-ns", 100}}

func addQuantiles(sample *runner.Sample, h *hdrhistogram.Histogram) {
	for _, q := range quantiles {
		sample.Values[q.unit] = float64(h.ValueAtPercentile(q.percent))
	}
}
