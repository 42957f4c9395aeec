package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesAreThoseOfSortedTimes(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 100, 10_000, 50_000} {
		one, two := new(histogram), new(histogram)
		var times []time.Duration
		for i := range n {
			d := time.Duration(math.Exp(random.Float64() * 25)) // to a minute
			times = append(times, d)
			[]*histogram{one, two}[i%2].add(d)
		}
		one.merge(two)
		slices.Sort(times)
		if one.Total != uint64(n) || one.Most != times[n-1] {
			t.Errorf("%d times up to %v, want %d up to %v", one.Total, one.Most, n, times[n-1])
		}
		for _, part := range []float64{0, 0.5, 0.99, 0.9999, 1} {
			want := times[max(int(math.Ceil(part*float64(n)))-1, 0)]
			if got := one.quantile(part); got < want || got > want+want/fine {
				t.Errorf("of %d times %v were within %v, want %v", n, part, got, want)
			}
		}
	}
}

func TestBucketsHaveNoGaps(t *testing.T) {
	next := time.Duration(0)
	for i := range len(histogram{}.Counts) {
		if first, last := bucket(next), bucket(highest(i)); first != i || last != i {
			t.Fatalf("bucket %d, from %d to %d, counts in %d and %d", i, next, highest(i), first, last)
		}
		next = highest(i) + 1
	}
	if highest(bucket(math.MaxInt64)) != math.MaxInt64 {
		t.Error("the longest time is in no bucket")
	}
}

func TestEmptyHistogramHasNoTimes(t *testing.T) {
	if got := new(histogram).quantile(0.5); got != 0 {
		t.Error(got)
	}
}
