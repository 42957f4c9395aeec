package poolswap_test

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// BenchmarkReadRatio takes turns between the rivals in one run, so that they
// meet the same machine, and reports the median time of a read of each and the
// ratios that are promised. One iteration is one turn of each.
func BenchmarkReadRatio(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
			const reads = 100_000
			rivals := readers()
			times := make(map[string][]float64)
			for b.Loop() {
				for _, rival := range rivals {
					took := together(goroutines, func() { rival.read(reads) })
					times[rival.name] = append(times[rival.name], float64(took.Nanoseconds())/float64(reads*goroutines))
				}
			}
			of := func(name string) float64 {
				slices.Sort(times[name])
				return times[name][len(times[name])/2]
			}
			b.ReportMetric(0, "ns/op") // a turn's time says nothing
			for _, rival := range rivals {
				b.ReportMetric(of(rival.name), rival.name+"-ns")
			}
			b.ReportMetric(of("poolswap")/of("RWMutexRef"), "poolswap/RWMutexRef")
			b.ReportMetric(of("portable")/of("RWMutexRef"), "portable/RWMutexRef")
			b.ReportMetric(of("Reader")/of("Pointer"), "Reader/Pointer")
		})
	}
}

// reader is a way to read, n times in a row.
type reader struct {
	name string
	read func(n int)
}

// The loops are functions of their own, since the compiler inlines nothing
// into a closure that came along with an inlined one.

func readers() []reader {
	plain := newTableContainer(poolswap.Options[table]{})
	portable := newTableContainer(poolswap.Options[table]{Portable: true})
	ref := newRWRef(1)
	pointer := newPointer()
	return []reader{
		{"poolswap", func(n int) { readContainer(plain, n) }},
		{"portable", func(n int) { readContainer(portable, n) }},
		{"RWMutexRef", func(n int) { readRWRef(ref, n) }},
		{"Reader", func(n int) { readReader(plain, n) }},
		{"Pointer", func(n int) { readPointer(pointer, n) }},
	}
}

func readContainer(c *poolswap.Container[table, *table], n int) {
	sum := 0
	for range n {
		obj := c.Acquire()
		sum += obj.value
		c.Release(obj)
	}
	sink.Add(int64(sum))
}

func readRWRef(c *rwRef, n int) {
	sum := 0
	for range n {
		obj := c.acquire()
		sum += obj.value
		c.release(obj)
	}
	sink.Add(int64(sum))
}

func readReader(c *poolswap.Container[table, *table], n int) {
	r := c.NewReader()
	defer r.Close()
	sum := 0
	for range n {
		sum += r.Load().value
	}
	sink.Add(int64(sum))
}

func readPointer(c *atomic.Pointer[table], n int) {
	sum := 0
	for range n {
		sum += c.Load().value
	}
	sink.Add(int64(sum))
}

// together runs f on so many goroutines at once and returns how long the
// slowest of them took. They wait for one another spinning, so that each has a
// processor when they begin: to wake one can take longer than f.
func together(goroutines int, f func()) time.Duration {
	var ready atomic.Int32
	took := make([]time.Duration, goroutines)
	var done sync.WaitGroup
	for i := range goroutines {
		done.Go(func() {
			ready.Add(1)
			for int(ready.Load()) < goroutines {
				continue
			}
			begun := time.Now()
			f()
			took[i] = time.Since(begun)
		})
	}
	done.Wait()
	return slices.Max(took)
}
