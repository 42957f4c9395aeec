package typedpool_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/typedpool"
)

var (
	untypedRival = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	typedRival   typedpool.Pool[bytes.Buffer]
)

// BenchmarkGetPut compares a round trip through the typed pool with one through
// the untyped pool. The two take turns in short batches, so that whatever else
// the machine does meets both alike; typed/untyped is the median over the pairs
// of batches.
func BenchmarkGetPut(b *testing.B) {
	const batch = 10_000
	untyped := func() {
		for range batch {
			x := untypedRival.Get().(*bytes.Buffer)
			untypedRival.Put(x)
		}
	}
	typed := func() {
		for range batch {
			x := typedRival.Get()
			typedRival.Put(x)
		}
	}
	untyped()
	typed()
	var untypedTimes, typedTimes, ratios []float64
	for b.Loop() {
		u, t := nanoseconds(untyped), nanoseconds(typed)
		untypedTimes = append(untypedTimes, u/batch)
		typedTimes = append(typedTimes, t/batch)
		ratios = append(ratios, t/u)
	}
	b.ReportMetric(median(untypedTimes), "ns/untyped")
	b.ReportMetric(median(typedTimes), "ns/typed")
	b.ReportMetric(median(ratios), "typed/untyped")
}

func nanoseconds(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start))
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// BenchmarkSlices takes a slice of 1000 elements, writes one and gives it back.
func BenchmarkSlices(b *testing.B) {
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			elements = append(make([]int64, 0, 1000), 1)
		}
	})
	b.Run("numbers", func(b *testing.B) {
		var p typedpool.Slices[int64]
		b.ReportAllocs()
		for b.Loop() {
			p.Put(append(p.Get(1000), 1))
		}
	})
	b.Run("pointers, cleared", func(b *testing.B) {
		var p typedpool.Slices[*int64]
		b.ReportAllocs()
		for b.Loop() {
			p.Put(append(p.Get(1000), nil))
		}
	})
}

var elements []int64
