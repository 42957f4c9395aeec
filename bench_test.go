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

// reads are the rivals of the read benchmarks; each returns a function that
// reads once.
var reads = []struct {
	name string
	make func() func(pb *testing.PB) int
}{
	{"poolswap", func() func(*testing.PB) int { return readContainer(newTableContainer(poolswap.Options[table]{})) }},
	{"portable", func() func(*testing.PB) int {
		return readContainer(newTableContainer(poolswap.Options[table]{Portable: true}))
	}},
	{"RWMutexRef", func() func(*testing.PB) int {
		c := newRWRef(1)
		return func(pb *testing.PB) (sum int) {
			for pb.Next() {
				obj := c.acquire()
				sum += obj.value
				c.release(obj)
			}
			return sum
		}
	}},
	{"Reader.Load", func() func(*testing.PB) int {
		c := newTableContainer(poolswap.Options[table]{})
		return func(pb *testing.PB) (sum int) {
			r := c.NewReader()
			defer r.Close()
			for pb.Next() {
				sum += r.Load().value
			}
			return sum
		}
	}},
	{"atomic.Pointer.Load", func() func(*testing.PB) int {
		var p atomic.Pointer[table]
		p.Store(&table{value: 1})
		return func(pb *testing.PB) (sum int) {
			for pb.Next() {
				sum += p.Load().value
			}
			return sum
		}
	}},
}

func readContainer(c *poolswap.Container[table, *table]) func(*testing.PB) int {
	return func(pb *testing.PB) (sum int) {
		for pb.Next() {
			obj := c.Acquire()
			sum += obj.value
			c.Release(obj)
		}
		return sum
	}
}

var sink atomic.Int64

func BenchmarkRead(b *testing.B) {
	for _, rival := range reads {
		read := rival.make()
		b.Run(rival.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) { sink.Add(int64(read(pb))) })
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	c := newTableContainer(poolswap.Options[table]{})
	b.ReportAllocs()
	for b.Loop() {
		c.Update(c.GetNew())
	}
}
