// Package stats condenses samples: medians with confidence intervals, ratios,
// and whether a difference is more than chance. The mathematics is that of
// golang.org/x/perf/benchmath, which benchstat uses too and which assumes
// nothing about how measurements are distributed.
package stats

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

const confidence = 0.95

// Summary is a median and the interval that holds it at 95 % confidence, or,
// of too few samples for that, from the least to the largest.
type Summary struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
}

// Of summarizes values. Without any, all is NaN and N is 0.
func Of(values []float64) Summary {
	if len(values) == 0 {
		return Summary{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	s := benchmath.AssumeNothing.Summary(sampleOf(values), confidence)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		s.Lo, s.Hi = slices.Min(values), slices.Max(values)
	}
	return Summary{s.Center, s.Lo, s.Hi, len(values)}
}

// Spread returns the larger distance of the interval's ends from the median,
// as a share of the median.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return max(s.High-s.Median, s.Median-s.Low) / s.Median
}

// Ratio says how one series of samples compares to another that was taken in
// turns with it.
type Ratio struct {
	Summary
	Significant bool `json:"significant"` // the two differ by more than chance, at the 5 % level
}

// Compare returns the ratio of values to base, sample by sample: two samples
// of one round have met the same conditions. Rounds whose base is 0 are left
// out.
func Compare(values, base []float64) Ratio {
	var ratios []float64
	for i := range min(len(values), len(base)) {
		if base[i] != 0 {
			ratios = append(ratios, values[i]/base[i])
		}
	}
	r := Ratio{Summary: Of(ratios)}
	if len(ratios) > 0 {
		c := benchmath.AssumeNothing.Compare(sampleOf(values), sampleOf(base))
		r.Significant = c.P < c.Alpha
	}
	return r
}

// sampleOf copies values: benchmath sorts what it is given.
func sampleOf(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// Difference says how samples of one run compare to those of another.
type Difference struct {
	Ratio float64 // of the medians
	P     float64 // how likely chance alone makes as large a difference
}

// Differ compares values to base, which need not have been taken in turns.
func Differ(values, base []float64) Difference {
	return Difference{
		Of(values).Median / Of(base).Median,
		benchmath.AssumeNothing.Compare(sampleOf(values), sampleOf(base)).P,
	}
}
