package report

import (
	_ "embed" // for page.html
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report/chart"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"spaced": func(name string) string { return strings.ReplaceAll(name, "/", ", ") },
}).Parse(pageText))

// section is the part of the page about one suite.
type section struct {
	Name, Title, About string
	Charts             []figureData
	Promises           []measure.Promise
	PromiseHead        []string
	Table              Table
	Open               bool // the figures are few enough to show at once
}

// figureData is a chart with its legend.
type figureData struct {
	Title  string
	SVG    template.HTML
	Legend []legendEntry
}

type legendEntry struct {
	Name string
	Mark template.HTML
}

// WriteHTML writes the report: one page that needs nothing else.
func WriteHTML(w io.Writer, suites []measure.Suite, run *results.Run) error {
	data := struct {
		Run       *results.Run
		Others    string
		Headlines []headline
		Ways      []rivals.Way
		Sections  []section
	}{Run: run, Others: Others(run), Headlines: headlines(run), Ways: rivals.Ways}
	for i := range suites {
		s := &suites[i]
		table := NewTable(s, run)
		if len(table.Cases) == 0 {
			continue
		}
		sec := section{
			Name: s.Name, Title: s.Title, About: s.About, Promises: s.Promises, PromiseHead: measure.PromiseHead(), Table: table, Open: len(table.Cases) <= 9,
		}
		for _, c := range s.Charts {
			if f := newFigure(s, c, run); f.SVG != "" {
				sec.Charts = append(sec.Charts, f)
			}
		}
		data.Sections = append(data.Sections, sec)
	}
	return page.Execute(w, data)
}

// newFigure draws a chart of a suite, without points that were not measured.
func newFigure(s *measure.Suite, c measure.Chart, run *results.Run) figureData {
	var labels, units []string
	for _, p := range c.Points {
		labels = append(labels, p.Label)
		units = append(units, p.Unit)
	}
	series := seriesOf(s, c, run)
	if len(series) == 0 {
		return figureData{}
	}
	f := figureData{Title: c.Title}
	if c.Kind == measure.Bars {
		f.SVG = template.HTML(chart.Bars(c.Title, labels, units, series)) // every text in it is escaped
		return f
	}
	format := func(v float64) string { return Format(v, units[0]) }
	if c.Kind == measure.Plot {
		f.SVG = template.HTML(chart.Plot(c.Title, c.Axis, series, gridUnit(units[0]), format))
	} else {
		f.SVG = template.HTML(chart.Lines(c.Title, c.Axis, labels, series, format))
	}
	for i, line := range series {
		f.Legend = append(f.Legend, legendEntry{line.Name, template.HTML(chart.Mark(i, line.Class))})
	}
	return f
}

// seriesOf returns the values of the rivals at the points of a chart. A rival
// has the same colour in all charts of its suite, and ours has the first.
func seriesOf(s *measure.Suite, c measure.Chart, run *results.Run) []chart.Series {
	var all []chart.Series
	others := 0
	for _, rival := range rivalsOf(s, c) {
		line := chart.Series{Name: rival, Class: "s0"}
		if rival != s.Find(c.Points[0].Case).Ours {
			line.Class = fmt.Sprintf("s%d", 1+others%6)
			others++
		}
		measured := false
		for _, p := range c.Points {
			summary := stats.Of(run.Find(s.Name, p.Case, rival).Values[p.Unit])
			measured = measured || summary.N > 0
			line.Points = append(line.Points, chart.Point{
				X: place(s, c, p, run, rival), Value: summary.Median, Low: summary.Low, High: summary.High, Text: Format(summary.Median, p.Unit),
			})
		}
		if c.Fit {
			line.Fit = fit(line.Points)
		}
		if measured {
			all = append(all, line)
		}
	}
	return all
}

// gridUnit is what the grid of a plot has round multiples of.
func gridUnit(unit string) float64 {
	if strings.HasSuffix(unit, "-bytes") {
		return 1 << 20
	}
	return 1
}

// place is where a point of a plot lies.
func place(s *measure.Suite, c measure.Chart, p measure.Point, run *results.Run, rival string) float64 {
	if c.X == "" {
		return p.At
	}
	return stats.Of(run.Find(s.Name, p.Case, rival).Values[c.X]).Median
}

// fit returns the line through points that were measured, and nil if they are too
// few.
func fit(points []chart.Point) func(x float64) float64 {
	var x, y []float64
	for _, p := range points {
		if !math.IsNaN(p.X) && !math.IsNaN(p.Value) {
			x, y = append(x, p.X), append(y, p.Value)
		}
	}
	if line, ok := stats.FitLine(x, y); ok {
		return line.At
	}
	return nil
}

// rivalsOf returns the rivals of all cases of a chart, in order.
func rivalsOf(s *measure.Suite, c measure.Chart) []string {
	var names []string
	seen := make(map[string]bool)
	for _, p := range c.Points {
		if of := s.Find(p.Case); of != nil {
			for _, rival := range of.Rivals {
				if !seen[rival.Name] {
					seen[rival.Name] = true
					names = append(names, rival.Name)
				}
			}
		}
	}
	return names
}
