package stats_test

import (
	"math"
	"slices"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/stats"
)

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   stats.Summary
	}{
		{"one value is its own interval", []float64{7}, stats.Summary{Median: 7, Low: 7, High: 7, N: 1}},
		{"of few the interval is the range", []float64{3, 1, 2}, stats.Summary{Median: 2, Low: 1, High: 3, N: 3}},
		{"six have an interval", []float64{6, 5, 4, 3, 2, 1}, stats.Summary{Median: 3.5, Low: 1, High: 6, N: 6}},
		{"an outlier does not move the median", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1000}, stats.Summary{Median: 1, Low: 1, High: 1, N: 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.values)
			if got := stats.Of(c.values); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !slices.Equal(before, c.values) {
				t.Error("the order of the samples has been changed")
			}
		})
	}
	if s := stats.Of(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("of nothing: %+v", s)
	}
	if s := (stats.Summary{Median: 10, Low: 9, High: 12}).Spread(); s != 0.2 {
		t.Errorf("spread %v, want 0.2", s)
	}
}

func TestCompare(t *testing.T) {
	// A machine that becomes slower in each round, and a rival that takes twice
	// as long in each: only the comparison round by round sees that.
	base := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	twice := make([]float64, len(base))
	for i := range base {
		twice[i] = 2 * base[i]
	}
	if r := stats.Compare(twice, base); r.Median != 2 || r.Low != 2 || r.High != 2 {
		t.Errorf("got %+v, want 2 exactly", r)
	}
	if r := stats.Compare([]float64{10, 11, 12, 10, 11, 12}, []float64{1, 1.1, 1.2, 1, 1.1, 1.2}); !r.Significant {
		t.Error("ten times as much is taken for chance")
	}
	if r := stats.Compare([]float64{1, 2, 1, 2, 1, 2}, []float64{2, 1, 2, 1, 2, 1}); r.Significant {
		t.Error("the same values in another order are taken for a difference")
	}
	if r := stats.Compare([]float64{1, 2}, []float64{0, 2}); r.N != 1 || r.Median != 1 {
		t.Errorf("a base of 0 was not left out: %+v", r)
	}
	if r := stats.Compare(nil, base); r.N != 0 || !math.IsNaN(r.Median) || r.Significant {
		t.Errorf("of nothing: %+v", r)
	}
}
