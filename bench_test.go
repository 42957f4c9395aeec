package poolswap_test

import (
	"sync/atomic"
	"testing"

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
