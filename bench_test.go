package poolswap_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// table is the object that benchmarks and tests swap.
type table struct {
	poolswap.Ref
	value int
}

func newTablePool(options poolswap.Options[table]) *poolswap.Pool[table, *table] {
	return poolswap.NewPoolWithOptions(
		func() *table { return new(table) },
		func(t *table) bool { t.value = 0; return true },
		options)
}

func newTableContainer(options poolswap.Options[table]) *poolswap.Container[table, *table] {
	return poolswap.NewContainer(newTablePool(options), &table{value: 1})
}

// newPointer returns the alternative that leaves old objects to the garbage
// collector.
func newPointer() *atomic.Pointer[table] {
	p := new(atomic.Pointer[table])
	p.Store(&table{value: 1})
	return p
}

var sink atomic.Int64

func BenchmarkAcquireRelease(b *testing.B) {
	c := newTableContainer(poolswap.Options[table]{})
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		obj := c.Acquire()
		sum += obj.value
		c.Release(obj)
	}
	sink.Add(int64(sum))
}

// BenchmarkTraced reads on all processors: before a version was traced, while one is, and
// after it was replaced and is still held.
func BenchmarkTraced(b *testing.B) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	read := func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				c.Release(c.Acquire())
			}
		})
	}
	b.Run("before", read)
	pool.Trace(1)
	c.Update(c.GetNew())
	b.Run("traced", read)
	b.Run("traced, one goroutine", func(b *testing.B) {
		for b.Loop() {
			c.Release(c.Acquire())
		}
	})
	held := c.Acquire()
	c.Update(c.GetNew())
	b.Run("held afterwards", read)
	c.Release(held)
}

func BenchmarkWithAcquire(b *testing.B) {
	c := newTableContainer(poolswap.Options[table]{})
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		c.WithAcquire(func(t *table) { sum += t.value })
	}
	sink.Add(int64(sum))
}

func BenchmarkReaderLoad(b *testing.B) {
	r := newTableContainer(poolswap.Options[table]{}).NewReader()
	defer r.Close()
	b.ReportAllocs()
	sum := 0
	for b.Loop() {
		sum += r.Load().value
	}
	sink.Add(int64(sum))
}

// BenchmarkUpdate measures a whole cycle of an object: get, publish, drain,
// reset. Filling it takes next to no time.
func BenchmarkUpdate(b *testing.B) {
	for _, variant := range []struct {
		name    string
		options poolswap.Options[table]
	}{{"asymmetric", poolswap.Options[table]{}}, {"portable", poolswap.Options[table]{Portable: true}}} {
		b.Run(variant.name, func(b *testing.B) {
			c := newTableContainer(variant.options)
			b.ReportAllocs()
			for b.Loop() {
				obj := c.GetNew()
				obj.value = 1
				c.Update(obj)
			}
		})
	}
}

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

// BenchmarkPublishRatio alternates, in one run, between Publish and its
// parts, GetNew and Update, and between Version and a pointer's Load. It reports the
// median time of each, and the ratios that the project promises. One iteration is
// one turn of each.
func BenchmarkPublishRatio(b *testing.B) {
	const calls, loads = 1000, 100_000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	container := func() *poolswap.Container[table, *table] { return newTableContainer(poolswap.Options[table]{}) }
	updated, published, read := container(), container(), container()
	pointer := newPointer()
	fill := func(next, _ *table) error {
		next.value++
		return nil
	}
	turns := []struct {
		name string
		per  int
		run  func()
	}{
		{"GetNew+Update", calls, func() {
			for range calls {
				next := updated.GetNew()
				next.value++
				updated.Update(next)
			}
		}},
		{"Publish", calls, func() {
			for range calls {
				if _, err := published.Publish(ctx, fill); err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"Version", loads, func() { readVersion(read, loads) }},
		{"Pointer", loads, func() { readPointer(pointer, loads) }},
	}
	times := make(map[string][]float64)
	for b.Loop() {
		for _, turn := range turns {
			begun := time.Now()
			turn.run()
			times[turn.name] = append(times[turn.name], float64(time.Since(begun).Nanoseconds())/float64(turn.per))
		}
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	b.ReportMetric(0, "ns/op") // leave it out: an iteration is not a call
	for _, turn := range turns {
		b.ReportMetric(median(turn.name), turn.name+"-ns")
	}
	b.ReportMetric(median("Publish")-median("GetNew+Update"), "Publish-beyond-Update-ns")
	b.ReportMetric(median("Version")/median("Pointer"), "Version/Pointer")
}

func readVersion(c *poolswap.Container[table, *table], n int) {
	sum := uint64(0)
	for range n {
		sum += c.Version()
	}
	sink.Add(int64(sum))
}

// rwRef is the slow obvious container that BenchmarkReadRatio compares with: a
// pointer under an RWMutex and one reference count.
type rwRef struct {
	mu      sync.RWMutex
	current *rwObject
	pool    sync.Pool
}

type rwObject struct {
	refs  atomic.Int64
	value int
}

func newRWRef() *rwRef {
	c := &rwRef{current: &rwObject{value: 1}}
	c.current.refs.Store(1) // the container's own
	return c
}

func (c *rwRef) acquire() *rwObject {
	c.mu.RLock()
	obj := c.current
	obj.refs.Add(1)
	c.mu.RUnlock()
	return obj
}

func (c *rwRef) release(obj *rwObject) {
	if obj.refs.Add(-1) == 0 {
		obj.value = 0
		c.pool.Put(obj)
	}
}
