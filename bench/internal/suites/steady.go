package suites

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

const (
	readsPerSecond = 10_000 // on each core
	steadyTime     = time.Minute
	lateRead       = time.Millisecond
)

// steady is what tables of single operations do not show: a service under a load
// that does not wait for it.
func steady() measure.Suite {
	s := measure.Suite{
		Name:  "steady",
		Title: "A steady service: 10,000 reads a second and core, an update a second of 200 MiB",
		About: "Each rival serves for a minute in a process of its own, with GOGC=100 and no memory limit. The object holds 380,000 records of 512 bytes in one slice, and a " +
			"map from keys to records; a read looks up a key and reads its record, an update fills an object anew. Each read has a time at which it is due, and its " +
			"latency counts from then, as does the update's: what waits for a processor or for a lock counts as slow. Half of the latencies are above p50, which is mostly " +
			"what it takes to wake a goroutine. RSS is what the process has in memory, read ten times a second. The collector's CPU time is what the runtime " +
			"counts, and its share is that of the CPU time which the system counts for the process.",
		Time:     steadyTime,
		FullTime: steadyTime,
		Columns: []measure.Column{
			{Unit: "p99.9-ns", Title: "p99.9"},
			{Unit: "p50-ns", Title: "p50"},
			{Unit: "p99-ns", Title: "p99"},
			{Unit: "p99.99-ns", Title: "p99.99"},
			{Unit: "max-ns", Title: "max"},
			{Unit: "late-reads", Title: "reads later than 1 ms"},
			{Unit: "update-p50-ns", Title: "update p50"},
			{Unit: "update-p90-ns", Title: "update p90"},
			{Unit: "update-max-ns", Title: "update max"},
			{Unit: "rss-mean-bytes", Title: "mean RSS"},
			{Unit: "rss-peak-bytes", Title: "peak RSS"},
			{Unit: "gc-share", Title: "collector's share of CPU"},
			{Unit: "gc-cpu-ns", Title: "collector's CPU/s"},
			{Unit: "cpu-ns", Title: "CPU/s"},
			{Unit: "gcs", Title: "collections"},
			{Unit: "B/update", Title: "B/update"},
		},
		OnRequest: true,
	}
	c := measure.Case{Name: "object=200MiB", Ours: "PoolSwap", OwnProcess: true, Setup: 2 * time.Second}
	for _, name := range []string{"PoolSwap", "AtomicPtr", "MutexAlloc", "RWMutexRef"} {
		c.Rivals = append(c.Rivals, measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleSteady(config, name)
		}})
	}
	s.Cases = []measure.Case{c}
	curve := measure.Chart{Kind: measure.Lines, Axis: "per cent of reads at most as slow", Title: "Latency of a read from when it was due, by percentile"}
	for _, q := range quantiles {
		curve.Points = append(curve.Points, measure.Point{Label: percentLabel(q.unit), Case: c.Name, Unit: q.unit})
	}
	memory := measure.Chart{Kind: measure.Plot, Axis: "seconds", Title: "Memory of the process (RSS) over time"}
	for second := range int(steadyTime.Seconds()) + 1 {
		memory.Points = append(memory.Points, measure.Point{At: float64(second), Case: c.Name, Unit: residentUnit(second)})
	}
	s.Charts = []measure.Chart{memory, curve, {Title: "CPU time in a second", Points: []measure.Point{
		{Label: "all", Case: c.Name, Unit: "cpu-ns"},
		{Label: "collector", Case: c.Name, Unit: "gc-cpu-ns"},
	}}}
	return s
}

func sampleSteady(config measure.Config, rival string) (measure.Sample, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	f := catalogueFunctions(config.Size(catalogueRecords))
	s := newShared(rival, f)
	for range 3 { // updates as they come, so that all rivals are in their steady state
		update(s, f)
	}
	cores := runtime.GOMAXPROCS(0)
	readers := make([]steadyReader, cores)
	for g := range readers {
		readers[g] = steadyReader{shared: s, keys: newEntries(config.Size(catalogueRecords)).keys, histogram: newHistogram()}
	}
	writer := steadyWriter{shared: s, fill: f.Fill, every: time.Second / time.Duration(max(1, config.Shrink))}
	memory := watchResident(config.Time)
	spent := readSpent()
	stop := writer.start(config.Time)
	started := time.Now()
	sample := measure.Parallel(cores, config.Time, func(g int, _ *measure.Stopwatch) int {
		return readers[g].serve(config.Time, time.Duration(g)*time.Second/readsPerSecond/time.Duration(cores))
	})
	served := time.Since(started).Seconds()
	stop()
	spent.end(&sample, len(writer.took))
	memory.end(&sample)

	var late int64
	var failed error
	all := readers[0].histogram
	for g := range readers {
		if g > 0 {
			all.Merge(readers[g].histogram)
		}
		late += readers[g].late
		failed = errors.Join(failed, readers[g].failed)
	}
	addQuantiles(&sample, all)
	sample.Values["late-reads"] = float64(late)
	if each, ok := sample.Values["cpu-ns/op"]; ok {
		busy := each * float64(sample.Iterations) / served
		sample.Values["cpu-ns"], sample.Values["gc-share"] = busy, sample.Values["gc-cpu-ns"]/busy
	}
	writer.add(&sample)
	for _, unit := range []string{"ns/op", "cpu-ns/op", "B/op", "allocs/op"} {
		delete(sample.Values, unit) // of reads, which the clock paces
	}
	return sample, failed
}

// steadyReader is one goroutine that reads when a read is due.
type steadyReader struct {
	shared    rivals.Shared[catalogue]
	keys      []string
	histogram *hdrhistogram.Histogram
	late      int64
	failed    error
}

// serve does all the reads that are due within the time, however late it is.
func (r *steadyReader) serve(limit, delay time.Duration) (reads int) {
	const interval = time.Second / readsPerSecond
	pace, start, err := startPacer(interval, delay)
	if err != nil {
		r.failed = err
		return 0
	}
	defer pace.stop()
	all := max(1, int(limit/interval))
	for reads < all && r.failed == nil {
		due, err := pace.wait()
		if err != nil {
			r.failed = err
			return reads
		}
		for range min(due, all-reads) {
			reads++
			r.read(reads*7919%len(r.keys), start.Add(time.Duration(reads)*interval))
		}
	}
	return reads
}

// read reads one key, and counts from when that was due.
func (r *steadyReader) read(number int, due time.Time) {
	obj := r.shared.Acquire()
	err := obj.Value.look(r.keys[number], number)
	r.shared.Release(obj)
	latency := time.Since(due)
	if err != nil {
		r.failed = err
	}
	_ = r.histogram.RecordValue(max(1, int64(latency)))
	if latency > lateRead {
		r.late++
	}
}

// steadyWriter updates at fixed times.
type steadyWriter struct {
	shared rivals.Shared[catalogue]
	fill   func(*catalogue)
	every  time.Duration
	took   []time.Duration // from when each update was due
}

// start updates until the time is up, and at least once. The function that it
// returns waits for the last update.
func (w *steadyWriter) start(limit time.Duration) (wait func()) {
	w.took = make([]time.Duration, 0, limit/w.every+1)
	ended := make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		for due := w.every / 2; due < limit || len(w.took) == 0; due += w.every {
			time.Sleep(due - time.Since(start))
			obj := w.shared.GetNew()
			w.fill(&obj.Value)
			w.shared.Update(obj)
			w.took = append(w.took, time.Since(start)-due)
		}
	}()
	return func() { <-ended }
}

// add adds the times of the updates to the sample, which takes them exactly: they
// are few.
func (w *steadyWriter) add(sample *measure.Sample) {
	slices.Sort(w.took)
	at := func(percent int) float64 { return float64(w.took[(len(w.took)*percent+99)/100-1]) }
	sample.Values["update-p50-ns"] = at(50)
	sample.Values["update-p90-ns"] = at(90)
	sample.Values["update-max-ns"] = at(100)
}
