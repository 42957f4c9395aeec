// Package chart draws charts as SVG that takes its colours and fonts from the
// page around it, so that one drawing serves light and dark, screen and paper.
// Libraries for charts write fixed colours, and one width for phone and desk.
//
// A drawing is 360 units wide: on a phone a unit is a pixel, and a wider page
// puts several next to each other. The page styles these classes: s0, s1, ...
// for the series, grid, label, value, group, whisker.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Series is one rival. Values that are NaN are left out.
type Series struct {
	Name   string
	Class  string
	Points []Point

	// Fit, if not nil, is the line through the points of a plot.
	Fit func(x float64) float64
}

// Point is a value, the interval around it, and how to write it.
type Point struct {
	X                float64 // its place in a plot
	Value, Low, High float64
	Text             string
}

const width = 360.0

// drawing collects the elements of an SVG.
type drawing struct{ strings.Builder }

func (d *drawing) add(format string, values ...any) { _, _ = fmt.Fprintf(d, format+"\n", values...) }

func (d *drawing) text(x, y float64, class, anchor, text string) {
	d.add(`<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, html.EscapeString(text))
}

// svg returns the drawing as an element of that height.
func (d *drawing) svg(title string, height float64) string {
	return fmt.Sprintf("<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n%s</svg>", width, height, html.EscapeString(title), d.String())
}

// finite reports whether a value can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
