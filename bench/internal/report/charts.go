package report

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"slices"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// figure is a chart on the page.
type figure struct {
	Title  string
	SVG    template.HTML
	Legend []string // the rivals of lines, in the order of their colours
}

// Lengths are points.
const (
	chartWidth = 360
	rowHeight  = 15
	lineChart  = 230 // the height of one with lines
	chartText  = 10
)

// Colours that stand for the variables of the page, which has a light and a dark
// theme: see themed. A rival has colour number i, and ours number 0.
var (
	ink  = color.NRGBA{R: 1, A: 255}
	soft = color.NRGBA{R: 2, A: 255}
	rule = color.NRGBA{R: 3, A: 255}
)

const lineColours = 8

func colour(i int) color.Color { return color.NRGBA{R: 4, B: uint8(i % lineColours), A: 255} } //nolint:gosec // it is small

// themed makes variables of the page out of the colours of a drawing.
func themed(svg []byte) []byte {
	variables := map[string]color.Color{"ink": ink, "soft": soft, "rule": rule}
	for i := range lineColours {
		variables[fmt.Sprintf("s%d", i)] = colour(i)
	}
	for name, c := range variables {
		r, g, b, _ := c.RGBA()
		svg = bytes.ReplaceAll(svg, fmt.Appendf(nil, "#%02X%02X%02X", r>>8, g>>8, b>>8), []byte("var(--"+name+")"))
	}
	return svg
}

// TextStyle is the style of a text in a drawing.
func TextStyle(c color.Color, size vg.Length) text.Style {
	return text.Style{Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}, Handler: plot.DefaultTextHandler}
}

// WebFonts names the fonts that browsers have in place of the one that gonum has
// measured: they are as wide.
func WebFonts(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Arial,Helvetica,Liberation Sans,sans-serif;"))
}

// newFigure draws a chart of a suite, without points that were not measured. It has
// no drawing if there are none.
func newFigure(s *runner.Suite, c runner.Chart, run *runner.Run) (figure, error) {
	if c.Axis == "" {
		return newBars(s, c, run)
	}
	return newLines(s, c, run)
}

func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Width, axis.Tick.LineStyle.Width, axis.Tick.Length = 0, 0, 0
		for _, style := range []*text.Style{&axis.Tick.Label, &axis.Label.TextStyle} {
			style.Color, style.Font = soft, TextStyle(soft, chartText-1).Font
		}
	}
	return p
}

func drawn(p *plot.Plot, height vg.Length) template.HTML {
	canvas := vgsvg.New(chartWidth, height)
	p.Draw(draw.Crop(draw.New(canvas), 8, -12, 0, 0)) // a browser may have a wider font
	var out bytes.Buffer
	_, _ = canvas.WriteTo(&out)
	svg := out.Bytes()[bytes.Index(out.Bytes(), []byte("<svg")):]
	return template.HTML(themed(WebFonts(svg))) // gonum escapes every text in it
}

// newBars draws a group of horizontal bars for each point, each bar with its value
// and a whisker for its interval.
func newBars(s *runner.Suite, c runner.Chart, run *runner.Run) (figure, error) {
	var bars [2]plotter.Values // ours, and the others
	var names plot.ConstantTicks
	var labels plotter.XYLabels
	var ranges intervals
	add := func(name, label string, value runner.Summary, of int) {
		at := float64(len(names))
		names = append(names, plot.Tick{Value: at, Label: name})
		labels.XYs = append(labels.XYs, plotter.XY{X: max(value.Median, value.High), Y: at})
		labels.Labels = append(labels.Labels, label)
		ranges.XYs = append(ranges.XYs, plotter.XY{X: value.Median, Y: at})
		ranges.XErrors = append(ranges.XErrors, struct{ Low, High float64 }{value.Median - value.Low, value.High - value.Median})
		bars[of], bars[1-of] = append(bars[of], value.Median), append(bars[1-of], 0)
	}
	for _, p := range slices.Backward(c.Points) { // upwards
		of := s.Find(p.Case)
		before := len(names)
		for _, rival := range slices.Backward(of.Rivals) {
			if value := runner.Summarize(run.Values(s.Name, p.Case, rival.Name, p.Unit)); value.N > 0 {
				add(rival.Name, Format(value.Median, p.Unit), value, map[bool]int{false: 1}[rival.Name == of.Ours])
			}
		}
		if len(names) > before {
			add("", p.Label, runner.Summary{}, 0)
		}
	}
	if len(names) == 0 {
		return figure{}, nil
	}
	p := newPlot()
	for i, values := range bars {
		chart, err := plotter.NewBarChart(values, rowHeight*0.7)
		if err != nil {
			return figure{}, err
		}
		chart.Horizontal, chart.Color, chart.LineStyle.Width = true, colour(i*(lineColours-1)), 0
		p.Add(chart)
	}
	whiskers, err := plotter.NewXErrorBars(ranges)
	if err != nil {
		return figure{}, err
	}
	whiskers.Color, whiskers.CapWidth = ink, 0
	texts, err := plotter.NewLabels(labels)
	if err != nil {
		return figure{}, err
	}
	texts.Offset.X = 4
	for i := range texts.TextStyle {
		texts.TextStyle[i] = TextStyle(ink, chartText)
		texts.TextStyle[i].YAlign = text.YCenter
		if names[i].Label == "" {
			texts.TextStyle[i].Font.Weight = xfont.WeightBold
		}
	}
	p.Add(whiskers, texts)
	p.Y.Tick.Marker, p.X.Tick.Marker = names, plot.ConstantTicks{}
	p.X.Min, p.Y.Min, p.Y.Max = 0, -0.5, float64(len(names))-0.5
	return figure{Title: c.Title, SVG: drawn(p, rowHeight*vg.Length(len(names)+1))}, nil
}

// intervals are those around medians.
type intervals struct {
	plotter.XYs
	plotter.XErrors
}

// newLines draws a line for each rival.
func newLines(s *runner.Suite, c runner.Chart, run *runner.Run) (figure, error) {
	p := newPlot()
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal.Color = 0, rule
	p.Add(grid)
	f := figure{Title: c.Title}
	unit := c.Points[0].Unit
	for _, rival := range s.Find(c.Points[0].Case).Rivals {
		var points plotter.XYs
		for i, point := range c.Points {
			if median := runner.Median(run.Values(s.Name, point.Case, rival.Name, point.Unit)); median > 0 {
				points = append(points, plotter.XY{X: float64(i), Y: median})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return f, err
		}
		line.LineStyle = draw.LineStyle{Color: colour(len(f.Legend)), Width: 1.6}
		marks.GlyphStyle = draw.GlyphStyle{Color: colour(len(f.Legend)), Radius: 2, Shape: draw.CircleGlyph{}}
		p.Add(line)
		if len(points) < 20 {
			p.Add(marks)
		}
		f.Legend = append(f.Legend, rival.Name)
	}
	if len(f.Legend) == 0 {
		return f, nil
	}
	var places plot.ConstantTicks
	for i, point := range c.Points {
		if i%(len(c.Points)/10+1) == 0 {
			places = append(places, plot.Tick{Value: float64(i), Label: point.Label})
		}
	}
	p.X.Tick.Marker, p.X.Label.Text, p.X.Max = places, c.Axis, float64(len(c.Points)-1)
	values := plot.Ticker(plot.DefaultTicks{})
	if c.Log {
		p.Y.Scale, values = plot.LogScale{}, logTicks{}
		p.Y.Min, p.Y.Max = p.Y.Min*0.8, p.Y.Max*1.25
	} else {
		p.Y.Min = 0
	}
	p.Y.Tick.Marker = formatted{values, unit}
	f.SVG = drawn(p, lineChart)
	return f, nil
}

// logTicks are at 1, 2 and 5 of each decade if these are few, else at powers of
// ten.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) (ticks []plot.Tick) {
	steps := []float64{1, 2, 5}
	if high/low > 1000 {
		steps = steps[:1]
	}
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
		for _, step := range steps {
			if at := step * decade; at >= low && at <= high {
				ticks = append(ticks, plot.Tick{Value: at, Label: "?"})
			}
		}
	}
	return ticks
}

// formatted are ticks whose labels have the unit.
type formatted struct {
	plot.Ticker
	unit string
}

func (f formatted) Ticks(low, high float64) []plot.Tick {
	scale := 1.0
	if strings.HasSuffix(f.unit, "-bytes") {
		scale = 1 << 20
	}
	ticks := slices.DeleteFunc(f.Ticker.Ticks(low/scale, high/scale), func(t plot.Tick) bool { return t.IsMinor() })
	for i := range ticks {
		ticks[i].Value *= scale
		ticks[i].Label = Format(ticks[i].Value, f.unit)
	}
	return ticks
}
