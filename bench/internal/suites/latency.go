package suites

import (
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// latency is how long single reads take while big maps are swapped.
func latency() measure.Suite {
	s := measure.Suite{
		Name:  "latency",
		Title: "Latency of reads while maps of 100,000 entries are swapped",
		About: "reads: each read, Acquire to Release, is timed by itself while a writer swaps the map 20 times a second; Unsynchronized is what the " +
			"machine and the clock show without any sharing. last-release: the Release of the last holder of a map that has been replaced. " +
			"There RWMutexRef empties the map, and PoolSwap starts a goroutine that will; GoStatement only starts one: most of its time goes to " +
			"waking an idle core. With procs=1 (GOMAXPROCS) there is no core to wake.",
		Time:     250 * time.Millisecond,
		FullTime: time.Second,
		Columns: []measure.Column{
			{Unit: "p99-ns", Title: "p99"},
			{Unit: "p50-ns", Title: "p50"},
			{Unit: "p99.9-ns", Title: "p99.9"},
			{Unit: "p99.99-ns", Title: "p99.99"},
			{Unit: "max-ns", Title: "max"},
			{Unit: "reader-resets", Title: "resets by readers"},
		},
	}
	reads := measure.Case{Name: "reads=all", Ours: "PoolSwap", Setup: 40 * time.Millisecond}
	for _, name := range []string{"PoolSwap", "RWMutexRef", "MutexInPlace", "MutexAlloc", "AtomicPtr", "Unsynchronized"} {
		reads.Rivals = append(reads.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleReads(config, name), nil
		}})
	}
	last := lastRelease("reads=last-release", 0, "PoolSwap", "GoStatement", "RWMutexRef")
	last1 := lastRelease("reads=last-release/procs=1", 1, "PoolSwap", "RWMutexRef")
	s.Cases = []measure.Case{reads, last, last1}
	curve := measure.Chart{Kind: measure.Lines, Axis: "per cent of reads at most as slow", Title: "Time of a read, by percentile"}
	for _, q := range quantiles {
		curve.Points = append(curve.Points, measure.Point{Label: percentLabel(q.unit), Case: reads.Name, Unit: q.unit})
	}
	s.Charts = []measure.Chart{curve, {Title: "Release by the last holder", Points: []measure.Point{
		{Label: "median", Case: last.Name, Unit: "p50-ns"},
		{Label: "slowest", Case: last.Name, Unit: "max-ns"},
		{Label: "median, GOMAXPROCS 1", Case: last1.Name, Unit: "p50-ns"},
		{Label: "slowest, GOMAXPROCS 1", Case: last1.Name, Unit: "max-ns"},
	}}}
	return s
}

const swapsPerSecond = 20

// latencyTable is a table that counts how often a reader resets it.
type latencyTable struct {
	*entries
	readerResets atomic.Int64
}

func (l *latencyTable) functions() *rivals.Functions[table] {
	f := l.entries.functions()
	reset := f.Reset
	f.Reset = func(t *table) {
		if onReader() {
			l.readerResets.Add(1)
		}
		reset(t)
	}
	return f
}

// onReader reports whether a function below timeRead or timeRelease calls it.
func onReader() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, ".timeReads") || strings.HasSuffix(frame.Function, ".timeRelease") {
			return true
		}
		if !more {
			return false
		}
	}
}

func sampleReads(config measure.Config, rival string) measure.Sample {
	data := &latencyTable{entries: newEntries(config.Size(tableEntries))}
	f := data.functions()
	var forReaders, forWriter rivals.Shared[table]
	if rival == "Unsynchronized" {
		forReaders, forWriter = rivals.NewUnsynchronized(f, 1), rivals.NewUnsynchronized(f, 1)
	} else {
		forReaders = newSharedTable(rival, f, 1)
		forWriter = forReaders
		rivals.Warm(forReaders, f, 3)
	}
	runtime.GC()
	goroutines := max(1, runtime.GOMAXPROCS(0)-1) // the writer has a core of its own
	histograms := make([]*hdrhistogram.Histogram, goroutines)
	for g := range histograms {
		histograms[g] = newHistogram()
	}
	defer startSwaps(forWriter, f)()
	sample := measure.Parallel(goroutines, config.Time, func(g int, w *measure.Stopwatch) int {
		return timeReads(w, forReaders, data.keys, histograms[g])
	})
	for _, h := range histograms[1:] {
		histograms[0].Merge(h)
	}
	addQuantiles(&sample, histograms[0])
	sample.Values["reader-resets"] = float64(data.readerResets.Load())
	return sample
}

// timeReads reads until the time is up.
//
//go:noinline
func timeReads(w *measure.Stopwatch, s rivals.Shared[table], keys []string, h *hdrhistogram.Histogram) (operations int) {
	found := 0
	start := time.Now()
	for w.Running() {
		for range 256 {
			before := time.Since(start)
			obj := s.Acquire()
			found += len(obj.Value[keys[operations%len(keys)]])
			s.Release(obj)
			_ = h.RecordValue(int64(time.Since(start) - before))
			operations++
		}
	}
	sink.Add(int64(found))
	return operations
}

// startSwaps swaps tables until stop is called.
func startSwaps(s rivals.Shared[table], f *rivals.Functions[table]) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(time.Second / swapsPerSecond)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				obj := s.GetNew()
				f.Fill(&obj.Value)
				s.Update(obj)
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, time.Minute.Nanoseconds(), 3) }

// quantiles are the units of the latency curve, from p0 to max, and the share
// of reads that are at most as slow.
var quantiles = []struct {
	unit    string
	percent float64
}{
	{"p50-ns", 50},
	{"p90-ns", 90},
	{"p99-ns", 99},
	{"p99.9-ns", 99.9},
	{"p99.99-ns", 99.99},
	{"p99.999-ns", 99.999},
	{"max-ns", 100},
}

func addQuantiles(sample *measure.Sample, h *hdrhistogram.Histogram) {
	for _, q := range quantiles {
		sample.Values[q.unit] = float64(h.ValueAtPercentile(q.percent))
	}
}

// percentLabel is how a chart shows a unit of quantiles.
func percentLabel(unit string) string {
	return strings.TrimPrefix(strings.TrimSuffix(unit, "-ns"), "p")
}
