package chart

import (
	"fmt"
	"math"
	"strings"
)

// Plot draws each series at its places, on two linear scales from zero: its
// points, or a line through them, or, where the series has one, the points and
// the line of Fit. axis says what places are; format writes the values beside
// the grid, which are round multiples of unit.
func Plot(title, axis string, series []Series, unit float64, format func(float64) string) string {
	const (
		left, right = 58.0, 14.0
		top, bottom = 10.0, 36.0
		height      = 274.0
	)
	var farthest, highest float64
	for _, s := range series {
		for _, p := range s.Points {
			if finite(p.Value) && finite(p.X) {
				farthest, highest = max(farthest, p.X), max(highest, p.Value)
			}
		}
	}
	if farthest <= 0 || highest <= 0 {
		return "" // nothing to draw
	}
	stepX, stepY := even(farthest), unit*even(highest/unit)
	farthest = stepX * math.Ceil(farthest/stepX)
	highest = stepY * math.Ceil(highest/stepY)
	x := func(v float64) float64 { return left + (width-left-right)*v/farthest }
	y := func(v float64) float64 { return height - bottom - (height-top-bottom)*v/highest }
	var d drawing
	for i := 0; float64(i)*stepY <= highest; i++ {
		tick := float64(i) * stepY
		d.add(`<path d="M%.1f %.1fH%.1f" class="grid"/>`, left, y(tick), width-right)
		d.text(left-5, y(tick)+4, "label", "end", format(tick))
	}
	for i := 0; float64(i)*stepX <= farthest; i++ {
		d.text(x(float64(i)*stepX), height-20, "label", "middle", fmt.Sprintf("%g", float64(i)*stepX))
	}
	d.text((left+width-right)/2, height-4, "label", "middle", axis)
	for n, s := range series {
		var path strings.Builder
		step := "M"
		last := -1
		for i, p := range s.Points {
			if !finite(p.Value) || !finite(p.X) {
				step = "M"
				continue
			}
			last = i
			if s.Fit == nil {
				_, _ = fmt.Fprintf(&path, "%s%.1f %.1f", step, x(p.X), y(p.Value))
				step = "L"
			}
		}
		if s.Fit != nil {
			_, _ = fmt.Fprintf(&path, "M%.1f %.1fL%.1f %.1f", x(0), y(max(0, s.Fit(0))), x(farthest), y(min(highest, s.Fit(farthest))))
		}
		d.add(`<path d="%s" class="line %s"/>`, path.String(), s.Class)
		for i, p := range s.Points {
			// The mark at the end of a line says which of the legend it is.
			if finite(p.Value) && finite(p.X) && (s.Fit != nil || i == last) {
				d.add(`<path d="%s" class="mark %s"><title>%s, %g: %s</title></path>`, mark(n, x(p.X), y(p.Value)), s.Class, s.Name, p.X, p.Text)
			}
		}
	}
	return d.svg(title, height)
}

// even returns the distance of grid lines: 1, 2 or 5 times a power of ten, so
// that there are 4 to 9 up to most.
func even(most float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, part := range []float64{0.2, 0.5, 1} {
		if most/(step*part) <= 8 {
			return step * part
		}
	}
	return step
}
