package chart

import (
	"fmt"
	"math"
	"strings"
)

// Lines draws a line for each series over equidistant points, on a logarithmic
// scale. axis says what the points are; format writes the values beside the
// grid.
func Lines(title, axis string, points []string, series []Series, format func(float64) string) string {
	const (
		left, right = 52.0, 12.0
		top, bottom = 10.0, 36.0
		height      = 274.0
	)
	low, high := bounds(series)
	if low > high {
		return "" // nothing to draw
	}
	x := func(i int) float64 {
		if len(points) < 2 {
			return (left + width - right) / 2
		}
		return left + 8 + (width-left-right-16)*float64(i)/float64(len(points)-1)
	}
	y := func(v float64) float64 {
		return height - bottom - (height-top-bottom)*(math.Log(v)-math.Log(low))/(math.Log(high)-math.Log(low))
	}
	var d drawing
	for _, tick := range ticks(low, high) {
		d.add(`<path d="M%.1f %.1fH%.1f" class="grid"/>`, left, y(tick), width-right)
		d.text(left-5, y(tick)+4, "label", "end", format(tick))
	}
	for i, point := range points {
		d.text(x(i), height-20, "label", "middle", point)
	}
	d.text((left+width-right)/2, height-4, "label", "middle", axis)
	for n, s := range series {
		var path strings.Builder
		step := "M"
		for i, p := range s.Points {
			if !finite(p.Value) || p.Value <= 0 {
				step = "M"
				continue
			}
			_, _ = fmt.Fprintf(&path, "%s%.1f %.1f", step, x(i), y(p.Value))
			step = "L"
		}
		d.add(`<path d="%s" class="line %s"/>`, path.String(), s.Class)
		for i, p := range s.Points {
			if finite(p.Value) && p.Value > 0 {
				d.add(`<path d="%s" class="mark %s"><title>%s, %s: %s</title></path>`, mark(n, x(i), y(p.Value)), s.Class, s.Name, points[i], p.Text)
			}
		}
	}
	return d.svg(title, height)
}

// bounds returns the range of the scale: whole steps of 1, 2, 5, 10 around all
// values. low is above high if there are none.
func bounds(series []Series) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			if finite(p.Value) && p.Value > 0 {
				low, high = min(low, p.Value), max(high, p.Value)
			}
		}
	}
	if low > high {
		return low, high
	}
	decade := math.Pow(10, math.Floor(math.Log10(low)))
	for _, step := range []float64{5, 2, 1} {
		if decade*step <= low {
			low = decade * step
			break
		}
	}
	decade = math.Pow(10, math.Floor(math.Log10(high)))
	for _, step := range []float64{1, 2, 5, 10} {
		if decade*step >= high {
			high = decade * step
			break
		}
	}
	if low == high {
		high *= 10
	}
	return low, high
}

// ticks returns where grid lines are: at 1, 2 and 5 of each decade if they are
// few, else at powers of ten.
func ticks(low, high float64) []float64 {
	steps := []float64{1, 2, 5}
	if high/low > 2000 {
		steps = steps[:1]
	}
	var all []float64
	for decade := math.Floor(math.Log10(low)); decade <= math.Log10(high); decade++ {
		for _, step := range steps {
			if tick := step * math.Pow(10, decade); tick >= low*0.999 && tick <= high*1.001 {
				all = append(all, tick)
			}
		}
	}
	return all
}

// mark returns the path of a small figure around a point: series are told apart
// by more than colour.
func mark(n int, x, y float64) string {
	const r = 3.6
	switch n % 4 {
	case 0:
		return fmt.Sprintf("M%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z", x-r, y, r, r, 2*r, r, r, -2*r)
	case 1:
		return fmt.Sprintf("M%.1f %.1fh%.1fv%.1fh%.1fz", x-r+.5, y-r+.5, 2*r-1, 2*r-1, 1-2*r)
	case 2:
		return fmt.Sprintf("M%.1f %.1fl%.1f %.1fh%.1fz", x, y-r-.5, r+.5, 2*r, -2*r-1)
	}
	return fmt.Sprintf("M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", x, y-r-1, r+1, r+1, -r-1, r+1, -r-1, -r-1)
}

// Mark returns the figure of a series as a drawing of its own, for a legend.
func Mark(n int, class string) string {
	return fmt.Sprintf(`<svg class="key" viewBox="0 0 12 12" aria-hidden="true"><path d="%s" class="mark %s"/></svg>`, mark(n, 6, 6), class)
}
