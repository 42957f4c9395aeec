package main

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	period        = 50 * time.Millisecond // from one replacement to the next
	questionCount = 1 << 16
	readsInARow   = 1024
)

// result is the measurement of one turn, or of all turns of a way.
type result struct {
	Took              time.Duration
	Reads             histogram
	Wrong             uint64
	Replacements, Due int
	Allocated         uint64 // bytes
	Collections       uint32
	PeakMemory        uint64 // bytes
}

func (r *result) add(other result) {
	r.Took += other.Took
	r.Reads.merge(&other.Reads)
	r.Wrong += other.Wrong
	r.Replacements += other.Replacements
	r.Due += other.Due
	r.Allocated += other.Allocated
	r.Collections += other.Collections
	r.PeakMemory = max(r.PeakMemory, other.PeakMemory)
}

// measurement is a table under its readers.
type measurement struct {
	shared    shared
	encoded   []byte
	questions []question
	version   uint32        // the last that was made
	replaced  atomic.Uint32 // the last whose replacement has returned
}

// measure measures a way to share the table, after a warm-up.
func measure(w way, encoded []byte, d time.Duration) (result, error) {
	list, err := questions(encoded, questionCount)
	if err != nil {
		return result{}, err
	}
	m := &measurement{shared: w.make(), encoded: encoded, questions: list}
	for range 4 { // so that every table exists that a way needs
		if err := m.replace(); err != nil {
			return result{}, err
		}
	}
	warm, err := m.run(warmUp(d))
	if err != nil {
		return result{}, err
	}
	runtime.GC() // so that each way begins with the garbage of none
	r, err := m.run(d)
	r.Wrong += warm.Wrong
	r.PeakMemory = peakMemory()
	return r, err
}

func warmUp(d time.Duration) time.Duration { return d / 5 }

func (m *measurement) replace() error {
	m.version++
	if err := m.shared.replace(func(t *table) error { return t.fill(m.encoded, m.version) }); err != nil {
		return err
	}
	m.replaced.Store(m.version)
	return nil
}

// run replaces the table every period and reads it on all processors, for a time
// or for one replacement if that takes longer.
func (m *measurement) run(d time.Duration) (result, error) {
	readers := make([]*reader, runtime.GOMAXPROCS(0))
	for i := range readers {
		readers[i] = &reader{next: i * len(m.questions) / len(readers)}
	}
	var stop atomic.Bool
	var reading sync.WaitGroup
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for _, r := range readers {
		reading.Go(func() { r.read(m, &stop, start) })
	}
	made, err := m.write(start, d)
	stop.Store(true)
	reading.Wait()
	took := time.Since(start)
	runtime.ReadMemStats(&after)

	r := result{
		Took: took, Replacements: made, Due: int((d + period - 1) / period),
		Allocated: after.TotalAlloc - before.TotalAlloc, Collections: after.NumGC - before.NumGC,
	}
	for _, one := range readers {
		r.Reads.merge(&one.times)
		r.Wrong += one.wrong
	}
	return r, err
}

// write replaces the table at the start and after each period. It makes up for a
// replacement that is late, until the time is over.
func (m *measurement) write(start time.Time, d time.Duration) (made int, err error) {
	for ; made == 0 || time.Since(start) < d; made++ {
		if err := m.replace(); err != nil {
			return made, err
		}
		time.Sleep(min(time.Duration(made+1)*period, d) - time.Since(start))
	}
	return made, nil
}

// reader is one goroutine that reads all the time.
type reader struct {
	times histogram
	wrong uint64
	next  int // question
}

// read takes the time once for each read: at its end, where the next one begins.
// After some reads it yields, outside the times, like a handler that is done.
// Without that the scheduler would stop it in the middle of a read, for up to
// 10 ms whatever the way, when the writer needs the processor.
func (r *reader) read(m *measurement, stop *atomic.Bool, start time.Time) {
	for !stop.Load() {
		atLeast := m.replaced.Load()
		before := time.Since(start)
		for range readsInARow {
			q := m.questions[r.next%len(m.questions)]
			q.atLeast = atLeast
			if !m.shared.read(q) {
				r.wrong++
			}
			r.next++
			now := time.Since(start)
			r.times.add(now - before)
			before = now
		}
		runtime.Gosched()
	}
}

// peakMemory returns the most memory that the process has had: on Linux resident
// memory, elsewhere the memory that the Go runtime got from the system. The resource
// usage of a child would not do: on Linux it includes the memory of its parent.
func peakMemory() uint64 {
	status, _ := os.ReadFile("/proc/self/status")
	if _, after, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
		if fields := bytes.Fields(after); len(fields) > 0 {
			if kib, err := strconv.ParseUint(string(fields[0]), 10, 64); err == nil {
				return kib << 10
			}
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.Sys
}
