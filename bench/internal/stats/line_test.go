package stats_test

import (
	"math"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/stats"
)

func TestFitLine(t *testing.T) {
	for _, c := range []struct {
		name             string
		x, y             []float64
		intercept, slope float64
	}{
		{"points on a line", []float64{3, 5, 9, 257}, []float64{13, 19, 31, 775}, 4, 3},
		{"points beside a line", []float64{0, 0, 4, 4}, []float64{1, 3, 9, 11}, 2, 2},
		{"a level line", []float64{1, 2, 3}, []float64{7, 7, 7}, 7, 0},
	} {
		line, ok := stats.FitLine(c.x, c.y)
		if !ok || math.Abs(line.Intercept-c.intercept) > 1e-9 || math.Abs(line.Slope-c.slope) > 1e-9 {
			t.Errorf("%s: %+v %v, want %v + %v x", c.name, line, ok, c.intercept, c.slope)
		}
		if at := line.At(10); math.Abs(at-c.intercept-10*c.slope) > 1e-9 {
			t.Errorf("%s: %v at 10", c.name, at)
		}
	}
	for _, x := range [][]float64{nil, {1}, {2, 2, 2}} {
		if line, ok := stats.FitLine(x, x); ok {
			t.Errorf("of points at %v: %+v", x, line)
		}
	}
}
