package runner

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// Summary is a median and the interval that holds it at 95 % confidence, or,
// of too few samples for that, from the least to the largest. It is that of
// golang.org/x/perf/benchmath, as in benchstat, which assumes nothing about how
// measurements are distributed.
type Summary struct {
	Median, Low, High float64
	N                 int
}

// Summarize summarizes values. Without any, all is NaN and N is 0.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{math.NaN(), math.NaN(), math.NaN(), 0}
	}
	s := benchmath.AssumeNothing.Summary(sampleOf(values), 0.95)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		s.Lo, s.Hi = slices.Min(values), slices.Max(values)
	}
	return Summary{s.Center, s.Lo, s.Hi, len(values)}
}

// Median is the median of values, NaN if there are none.
func Median(values []float64) float64 { return Summarize(values).Median }

// Spread returns the larger distance of the interval's ends from the median,
// as a share of the median.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return max(s.High-s.Median, s.Median-s.Low) / s.Median
}

// Ratio returns the median of the ratios of values to base, sample by sample:
// two samples of one round have met the same conditions. Rounds whose base is 0
// are left out; it is NaN if no round is left. It may be chance where Chance
// says 5 % or more.
func Ratio(values, base []float64) float64 {
	var ratios []float64
	for i := range min(len(values), len(base)) {
		if base[i] != 0 {
			ratios = append(ratios, values[i]/base[i])
		}
	}
	return Median(ratios)
}

// Chance returns how likely chance alone makes as large a difference
// (Mann-Whitney).
func Chance(a, b []float64) float64 {
	return benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b)).P
}

// sampleOf copies values: benchmath sorts them in place.
func sampleOf(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}
