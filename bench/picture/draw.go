package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// theme are the colours for one background, which is the page's.
type theme struct {
	name       string
	text, grid color.Color
	lines      [3]color.Color
}

// The lines differ in lightness too, for those who do not see their colours.
var (
	light = theme{"light", rgb(0x1f2328), rgb(0xd1d9e0), [3]color.Color{rgb(0x0550ae), rgb(0xbc4c00), rgb(0x656d76)}}
	dark  = theme{"dark", rgb(0xe6edf3), rgb(0x3d444d), [3]color.Color{rgb(0x58a6ff), rgb(0xf0883e), rgb(0x9198a1)}}
)

func rgb(c uint32) color.Color {
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

// Lengths are points; a page shows three of them as four pixels.
const (
	width, height = 450, 340
	textSize      = 12
	lineHeight    = 1.3 * textSize
	above, below  = 3.5 * lineHeight, 3.7 * lineHeight // room for the texts there
)

// ways are the lines of the picture: their names in the results, and their labels.
var ways = [3][2]string{{"PoolSwap", "poolswap"}, {"RWMutex", "RWMutex"}, {"RWMutexRef", "RWMutex + count"}}

// drawReads draws reads as SVG: for each way a line without a writer, and a dashed one
// with it.
func drawReads(run *runner.Run, t theme) ([]byte, error) {
	normal := report.TextStyle(t.text, textSize)
	p := plot.New()
	p.BackgroundColor = nil // the page has one
	p.Add(&plotter.Grid{Horizontal: vgdraw.LineStyle{Color: t.grid, Width: 0.75}})
	labels := plotter.Labels{Offset: vg.Point{X: textSize / 2}}
	for i, way := range ways {
		still, err := curve(run, way[0], "none")
		if err != nil {
			return nil, err
		}
		replaced, err := curve(run, way[0], "1000")
		if err != nil {
			return nil, err
		}
		line, points, err := plotter.NewLinePoints(still)
		if err != nil {
			return nil, err
		}
		dashes, err := plotter.NewLine(replaced)
		if err != nil {
			return nil, err
		}
		line.LineStyle = vgdraw.LineStyle{Color: t.lines[i], Width: 2}
		points.GlyphStyle = vgdraw.GlyphStyle{Color: t.lines[i], Radius: 3, Shape: vgdraw.CircleGlyph{}}
		dashes.LineStyle = vgdraw.LineStyle{Color: t.lines[i], Width: 1.5, Dashes: []vg.Length{5, 4}}
		p.Add(line, points, dashes)

		first, last := still[0], still[len(still)-1]
		style := normal
		style.Color, style.YAlign = t.lines[i], text.YCenter
		labels.XYs = append(labels.XYs, last)
		labels.Labels = append(labels.Labels, fmt.Sprintf("%s\n%.0f → %.0f", way[1], first.Y, last.Y))
		labels.TextStyle = append(labels.TextStyle, style)
	}
	spread(labels.XYs, p.Y.Max/5)
	p.Add(&labels)
	axes(p, normal)
	p.X.Label.Text = fmt.Sprintf("goroutines that read, on %d cores", run.Machine.Cores)

	loads, err := curve(run, "Reader.Load", "none")
	if err != nil {
		return nil, err
	}
	pointer, err := curve(run, "atomic.Pointer", "none")
	if err != nil {
		return nil, err
	}
	svg := vgsvg.New(width, height)
	c := vgdraw.New(svg)
	p.Draw(vgdraw.Crop(c, 0, 0, below, -above))
	c.FillText(bold(t), vg.Point{Y: height - lineHeight}, "Reads grow with the cores, and fall under an RWMutex")
	for _, line := range []struct {
		y    vg.Length
		text string
	}{
		{height - 2.2*lineHeight, "Million reads a second, of an object that all goroutines share"},
		{height - 3.2*lineHeight, "Dashed: while a writer replaces it 1,000 times a second"},
		{2.3 * lineHeight, fmt.Sprintf("Off this scale: poolswap's Reader.Load, %.1f billion; atomic.Pointer, %.1f billion,", loads[len(loads)-1].Y/1000, pointer[len(pointer)-1].Y/1000)},
		{1.3 * lineHeight, "whose memory cannot be reused: no writer knows when the last reader is done"},
		{0.3 * lineHeight, machine(run)},
	} {
		c.FillText(normal, vg.Point{Y: line.y}, line.text)
	}
	return written(svg)
}

// bold is the style of a title.
func bold(t theme) text.Style {
	style := report.TextStyle(t.text, 1.25*textSize)
	style.Font.Weight = xfont.WeightBold
	return style
}

func machine(run *runner.Run) string {
	m := run.Machine
	return fmt.Sprintf("%s, %d cores, %s/%s, %s", m.Name(), m.Cores, m.OS, m.Arch, m.Go)
}

func written(svg *vgsvg.Canvas) ([]byte, error) {
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		return nil, err
	}
	return report.WebFonts(out.Bytes()), nil
}

// axes styles the axes: numbers alone.
func axes(p *plot.Plot, style text.Style) {
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Width, axis.Tick.LineStyle.Width, axis.Tick.Length = 0, 0, 0
		for _, s := range []*text.Style{&axis.Tick.Label, &axis.Label.TextStyle} {
			s.Color, s.Font = style.Color, style.Font
		}
	}
	var counts, values plot.ConstantTicks
	for x := 0.0; x <= p.X.Max; x++ {
		counts = append(counts, plot.Tick{Value: x, Label: fmt.Sprint(1 << int(x))})
	}
	step := math.Pow(10, math.Floor(math.Log10(p.Y.Max)))
	for p.Y.Max/step < 2 {
		step /= 2
	}
	p.Y.Min, p.Y.Max = 0, step*math.Ceil(p.Y.Max/step)
	for y := 0.0; y <= p.Y.Max; y += step {
		values = append(values, plot.Tick{Value: y, Label: fmt.Sprint(y)})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = counts, values
}

// spread moves points up until they lie that far apart.
func spread(points plotter.XYs, apart float64) {
	order := []int{0, 1, 2}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(points[i].Y, points[j].Y) })
	for n, i := range order[1:] {
		points[i].Y = max(points[i].Y, points[order[n]].Y+apart)
	}
}

// curve returns millions of reads a second by goroutines, as powers of two.
func curve(run *runner.Run, rival, writer string) (points plotter.XYs, err error) {
	for {
		name := fmt.Sprintf("goroutines=%d/writer=%s", 1<<len(points), writer)
		times := run.Values("scaling", name, rival, "ns/op")
		if len(times) == 0 {
			break
		}
		points = append(points, plotter.XY{X: float64(len(points)), Y: 1000 / runner.Median(times)})
	}
	if len(points) < 2 {
		return nil, fmt.Errorf("no reads of %s with writer=%s", rival, writer)
	}
	return points, nil
}
