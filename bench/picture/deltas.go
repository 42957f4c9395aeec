package main

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// bar is a value of the run, and colour the line of the theme that has its colour.
type bar struct {
	label, unit string
	colour      int
}

// panel has bars on a logarithmic scale.
type panel struct {
	title string
	least float64 // where the scale begins
	bars  []bar   // from the top
}

// panels are the delay and the bytes of deltas, beside those of whole content.
var panels = []panel{
	{"From the publication until a replica has swapped", 1e6, []bar{
		{"delta, half of them within", "p50-ns", 0},
		{"95 % within", "p95-ns", 0},
		{"all within", "last-ns", 0},
		{"whole content, all within", "whole-ns", 1},
	}},
	{"Bytes for each replica", 100, []bar{
		{"delta", "fetched-bytes", 0},
		{"block diff of a sorted table", "compiled-bytes", 2},
		{"whole content", "whole-bytes", 1},
	}},
}

const (
	barHeight, barWidth = 1.5 * lineHeight, 0.9 * lineHeight
	barLeft             = 165 // where bars begin
	decade              = 33  // the length of each power of ten
)

// drawDeltas draws a change of a few rows, as SVG.
func drawDeltas(run *runner.Run, t theme) ([]byte, error) {
	normal := report.TextStyle(t.text, textSize)
	normal.YAlign = text.YCenter
	tall := vg.Length(4 * lineHeight) // the title, and the machine
	for _, p := range panels {
		tall += vg.Length(len(p.bars)+1)*barHeight + lineHeight/2
	}
	svg := vgsvg.New(width, tall)
	c := vgdraw.New(svg)
	c.FillText(bold(t), vg.Point{Y: tall - lineHeight}, "Ten of a million rows to 256 replicas")
	y := tall - 2.5*lineHeight
	for _, p := range panels {
		c.FillText(normal, vg.Point{Y: y}, p.title+", on a logarithmic scale")
		for _, b := range p.bars {
			y -= barHeight
			values := run.Values("fleetdelta", "rows=1M/changes=10/replicas=256", "fleetd", b.unit)
			if len(values) == 0 {
				return nil, fmt.Errorf("no %s", b.unit)
			}
			value := runner.Median(values)
			end := barLeft + decade*vg.Length(math.Log10(max(p.least, value)/p.least))
			low, high := y-barWidth/2, y+barWidth/2
			c.FillPolygon(t.lines[b.colour], []vg.Point{{X: barLeft, Y: low}, {X: end, Y: low}, {X: end, Y: high}, {X: barLeft, Y: high}})
			c.FillText(normal, vg.Point{Y: y}, b.label)
			c.FillText(normal, vg.Point{X: end + textSize/2, Y: y}, report.Format(value, b.unit))
		}
		y -= barHeight + lineHeight/2
	}
	normal.Font.Size = 0.75 * textSize // the name of a processor can be long
	c.FillText(normal, vg.Point{Y: lineHeight / 2}, machine(run))
	return written(svg)
}
