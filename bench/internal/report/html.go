package report

import (
	_ "embed" // for page.html
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report/chart"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/stats"
	"github.com/poolswap/poolswap/bench/internal/targets"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"spaced": func(name string) string { return strings.ReplaceAll(name, "/", ", ") },
}).Parse(pageText))

// section is what the page shows of a suite.
type section struct {
	Name, Title, About string
	Charts             []figureData
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

// targetRow is a target in words.
type targetRow struct{ What, Limit, Measured, Verdict, Class string }

// WriteHTML writes the report: one page that needs nothing else.
func WriteHTML(w io.Writer, suites []measure.Suite, run *results.Run) error {
	data := struct {
		Run       *results.Run
		Others    string
		Headlines []headline
		Ways      []rivals.Way
		Tally     string
		Targets   []targetRow
		Sections  []section
	}{Run: run, Others: Others(run), Headlines: headlines(run), Ways: rivals.Ways}
	judged := targets.Of(run)
	data.Tally = Tally(judged)
	for _, t := range judged {
		row := targetRow{t.What, limit(t), figure(t.Measured, t.Unit), string(t.Verdict), ""}
		switch t.Verdict {
		case targets.Met:
			row.Class = "met"
		case targets.NotMet:
			row.Class = "missed"
		case targets.NotMeasured:
			row.Measured = "-"
		}
		data.Targets = append(data.Targets, row)
	}
	for i := range suites {
		s := &suites[i]
		table := NewTable(s, run)
		if len(table.Cases) == 0 {
			continue
		}
		sec := section{Name: s.Name, Title: s.Title, About: s.About, Table: table, Open: len(table.Cases) <= 9}
		for _, c := range s.Charts {
			if f := newFigure(s, c, run); f.SVG != "" {
				sec.Charts = append(sec.Charts, f)
			}
		}
		data.Sections = append(data.Sections, sec)
	}
	return page.Execute(w, data)
}

// newFigure draws a chart of a suite. What was not measured is left out.
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
	f.SVG = template.HTML(chart.Lines(c.Title, c.Axis, labels, series, func(v float64) string { return Format(v, units[0]) }))
	for i, line := range series {
		f.Legend = append(f.Legend, legendEntry{line.Name, template.HTML(chart.Mark(i, line.Class))})
	}
	return f
}

// seriesOf returns what the rivals have shown at the points of a chart. A rival
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
				Value: summary.Median, Low: summary.Low, High: summary.High, Text: Format(summary.Median, p.Unit),
			})
		}
		if measured {
			all = append(all, line)
		}
	}
	return all
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
