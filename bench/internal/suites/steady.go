package suites

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

const (
	readsPerSecond = 10_000 // on each core
	lateRead       = time.Millisecond
)

// steady is a service under a load that does not wait for it.
func steady() runner.Suite {
	s := runner.Suite{
		Name:  "steady",
		Title: "A steady service: 10,000 reads a second and core, an update a second of 200 MiB",
		About: "Each rival serves for a minute in a process of its own, with GOGC=100 and no memory limit. The object holds 380,000 records of 512 bytes in one slice, and a " +
			"map from keys to records; a read looks up a key and reads its record, an update fills an object anew. Each read has a time at which it is due, and its " +
			"latency counts from then, as does the update's: a wait for a processor or for a lock counts as slow. Half of the latencies are above p50, which is mostly " +
			"the time to wake a goroutine. RSS is the memory of the process at its most. The collector's CPU time is the runtime's count.",
		Time:     time.Minute,
		FullTime: time.Minute,
		Columns: runner.Columns("p99.9-ns", "p99.9", "p50-ns", "p50", "p99-ns", "p99", "p99.99-ns", "p99.99", "max-ns", "max", "late-reads", "reads later than 1 ms",
			"update-p50-ns", "update p50", "update-max-ns", "update max", "rss-peak-bytes", "peak RSS",
			"gc-cpu-ns", "collector's CPU/s", "cpu-ns", "CPU/s", "gcs", "collections", "B/update", "B/update"),
		OnRequest: true,
		Cases: []runner.Case{{
			Name: "object=200MiB", Ours: "PoolSwap", Setup: 2 * time.Second,
			Rivals: each([]string{"PoolSwap", "AtomicPtr", "MutexAlloc", "RWMutexRef"}, sampleSteady),
		}},
	}
	name := s.Cases[0].Name
	curve := runner.Chart{Title: "Latency of a read from when it was due, by percentile", Axis: "per cent of reads at most as slow", Log: true}
	for _, q := range quantiles {
		label := strings.TrimPrefix(strings.TrimSuffix(q.unit, "-ns"), "p")
		curve.Points = append(curve.Points, runner.Point{Label: label, Case: name, Unit: q.unit})
	}
	s.Charts = []runner.Chart{curve, bars(&s, "Peak memory of the process (RSS)", "rss-peak-bytes", "object", "")}
	return s
}

func sampleSteady(config runner.Config, rival string) (runner.Sample, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	f := catalogueFunctions(config.Size(catalogueRecords))
	s := rivals.New(rival, f, 0)
	for range 3 { // updates as they come, so that all rivals are in their steady state
		f.Replace(s)
	}
	cores := runtime.GOMAXPROCS(0)
	readers := make([]steadyReader, cores)
	for g := range readers {
		readers[g] = steadyReader{shared: s, keys: newEntries(config.Size(catalogueRecords)).keys, histogram: newHistogram()}
	}
	collector, collections, bytes := spent()
	updates := startUpdates(s, f, time.Second/time.Duration(max(1, config.Shrink)), config.Time)
	started := time.Now()
	paced := runner.Parallel(cores, config.Time, func(g int, _ *runner.Stopwatch) int {
		return readers[g].serve(config.Time, time.Duration(g)*time.Second/readsPerSecond/time.Duration(cores))
	})
	served := time.Since(started).Seconds()
	took := <-updates

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
	collectorEnd, collectionsEnd, bytesEnd := spent()
	sample := runner.Sample{Iterations: paced.Iterations, Values: map[string]float64{
		"late-reads":    float64(late),
		"update-p50-ns": float64(took[(len(took)-1)/2]), "update-max-ns": float64(took[len(took)-1]),
		"gcs": collectionsEnd - collections, "gc-cpu-ns": 1e9 * (collectorEnd - collector) / served,
		"B/update": (bytesEnd - bytes) / float64(len(took)),
	}}
	addQuantiles(&sample, all)
	if each, ok := paced.Values["cpu-ns/op"]; ok {
		sample.Values["cpu-ns"] = each * float64(paced.Iterations) / served
	}
	if peak, ok := runner.PeakMemory(os.Getpid()); ok {
		sample.Values["rss-peak-bytes"] = peak
	}
	return sample, failed
}

// spent returns the seconds of CPU time that the runtime says went to the
// collector, the number of collections, and the bytes allocated, since the start
// of the process.
func spent() (collector, collections, bytes float64) {
	values := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/gc/cycles/total:gc-cycles"}, {Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(values)
	return values[0].Value.Float64(), float64(values[1].Value.Uint64()), float64(values[2].Value.Uint64())
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

// startUpdates updates at fixed times until the time is up, and at least once. The
// channel then gets the times that updates took from when they were due, in order.
func startUpdates(s rivals.Shared[catalogue], f *rivals.Functions[catalogue], every, limit time.Duration) <-chan []time.Duration {
	took := make([]time.Duration, 0, limit/every+1)
	ended := make(chan []time.Duration)
	start := time.Now()
	go func() {
		for due := every / 2; due < limit || len(took) == 0; due += every {
			time.Sleep(due - time.Since(start))
			f.Replace(s)
			took = append(took, time.Since(start)-due)
		}
		slices.Sort(took)
		ended <- took
	}()
	return ended
}
