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

// BenchmarkReadRatio alternates between the readers in one run, so that all
// meet the same state of the machine. It reports the median time of a read for
// each, and the ratios that the project promises. One iteration is one turn of
// each reader.
func BenchmarkReadRatio(b *testing.B) {
	for _, goroutines := range []int{1, 2} {
		b.Run("goroutines="+strconv.Itoa(goroutines), func(b *testing.B) {
			const reads = 100_000
			contenders := readers()
			times := make(map[string][]float64)
			for b.Loop() {
				for _, r := range contenders {
					took := slowest(goroutines, func() { r.read(reads) })
					times[r.name] = append(times[r.name], float64(took.Nanoseconds())/float64(reads*goroutines))
				}
			}
			median := func(name string) float64 {
				slices.Sort(times[name])
				return times[name][len(times[name])/2]
			}
			b.ReportMetric(0, "ns/op") // leave it out: an iteration is not a read
			for _, r := range contenders {
				b.ReportMetric(median(r.name), r.name+"-ns")
			}
			b.ReportMetric(median("poolswap")/median("RWMutexRef"), "poolswap/RWMutexRef")
			b.ReportMetric(median("portable")/median("RWMutexRef"), "portable/RWMutexRef")
			b.ReportMetric(median("Reader")/median("Pointer"), "Reader/Pointer")
		})
	}
}

// reader is a way to read, n times in a row.
type reader struct {
	name string
	read func(n int)
}

// Each loop is a function of its own, because the compiler does not inline
// calls in a closure of an inlined function.

func readers() []reader {
	plain := newTableContainer(poolswap.Options[table]{})
	portable := newTableContainer(poolswap.Options[table]{Portable: true})
	ref := newRWRef()
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

// slowest runs f on this many goroutines at once and returns the longest time
// that one took. They spin until all have started, because waking a goroutine
// can take longer than f.
func slowest(goroutines int, f func()) time.Duration {
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
