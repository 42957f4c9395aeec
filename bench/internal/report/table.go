// Package report shows what a run has measured: as tables on a terminal, as
// Markdown for the documentation, and as one page of HTML with charts.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// Table is what one suite has measured, ready to be shown.
type Table struct {
	Suite *measure.Suite
	Cases []TableCase
}

// TableCase is the part of a table that compares rivals with each other.
type TableCase struct {
	Name string
	Head []string
	Rows []Row
}

// Row is one rival.
type Row struct {
	Rival string
	Ours  bool
	Cells []string // as many as the head has after the rival
}

// NewTable returns the table of a suite. Cases without a sample are left out,
// and so are columns of which a case knows nothing.
func NewTable(s *measure.Suite, run *results.Run) Table {
	t := Table{Suite: s}
	for i := range s.Cases {
		if tc := newTableCase(s, &s.Cases[i], run); len(tc.Rows) > 0 {
			t.Cases = append(t.Cases, tc)
		}
	}
	return t
}

func newTableCase(s *measure.Suite, c *measure.Case, run *results.Run) TableCase {
	columns := columnsOf(s, c, run)
	if len(columns) == 0 {
		return TableCase{}
	}
	first := columns[0].Unit
	tc := TableCase{Name: c.Name, Head: []string{"rival", columns[0].Title, "±", "to ours"}}
	if published(c, first) {
		tc.Head = append(tc.Head, "published")
	}
	for _, column := range columns[1:] {
		tc.Head = append(tc.Head, column.Title)
		if published(c, column.Unit) {
			tc.Head = append(tc.Head, "published "+column.Title)
		}
	}
	ours := run.Find(s.Name, c.Name, c.Ours).Values[first]
	for i := range c.Rivals {
		rival := &c.Rivals[i]
		series := run.Find(s.Name, c.Name, rival.Name)
		if len(series.Iterations) == 0 {
			continue
		}
		summary := stats.Of(series.Values[first])
		row := Row{Rival: rival.Name, Ours: rival.Name == c.Ours}
		row.Cells = append(row.Cells, Format(summary.Median, first), spread(summary), ratio(series.Values[first], ours))
		if published(c, first) {
			row.Cells = append(row.Cells, publishedRatio(c, rival, first))
		}
		for _, column := range columns[1:] {
			row.Cells = append(row.Cells, Format(stats.Of(series.Values[column.Unit]).Median, column.Unit))
			if published(c, column.Unit) {
				row.Cells = append(row.Cells, publishedValue(rival, column.Unit))
			}
		}
		tc.Rows = append(tc.Rows, row)
	}
	return tc
}

// columnsOf returns the columns for which a case has values.
func columnsOf(s *measure.Suite, c *measure.Case, run *results.Run) []measure.Column {
	var columns []measure.Column
	for _, column := range s.Columns {
		if slices.ContainsFunc(c.Rivals, func(r measure.Rival) bool {
			return len(run.Find(s.Name, c.Name, r.Name).Values[column.Unit]) > 0
		}) {
			columns = append(columns, column)
		}
	}
	return columns
}

func spread(s stats.Summary) string {
	if s.N < 2 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*s.Spread())
}

// ratio is empty where ours is nothing, and ends in ~ where the difference may
// be chance.
func ratio(values, ours []float64) string {
	r := stats.Compare(values, ours)
	switch {
	case r.N == 0:
		return ""
	case !r.Significant && r.Median != 1:
		return FormatRatio(r.Median) + " ~"
	}
	return FormatRatio(r.Median)
}

// published reports whether others have published values of a case in a unit.
func published(c *measure.Case, unit string) bool {
	return slices.ContainsFunc(c.Rivals, func(r measure.Rival) bool {
		_, ok := r.Published[unit]
		return ok
	})
}

// publishedRatio is empty where nothing was published.
func publishedRatio(c *measure.Case, rival *measure.Rival, unit string) string {
	base := c.Base
	if base == "" {
		base = c.Ours
	}
	value, ok := rival.Published[unit]
	if !ok {
		return ""
	}
	return FormatRatio(value / c.Find(base).Published[unit])
}

// publishedValue is empty where nothing was published.
func publishedValue(rival *measure.Rival, unit string) string {
	value, ok := rival.Published[unit]
	if !ok {
		return ""
	}
	return Format(value, unit)
}

// WriteText writes the table for a terminal.
func (t Table) WriteText(w io.Writer) error {
	_, _ = fmt.Fprintf(w, "\n%s: %s\n%s\n", t.Suite.Name, t.Suite.Title, wrap(t.Suite.About))
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range t.Cases {
		_, _ = fmt.Fprintf(aligned, "\n%s\n", c.Name)
		_, _ = fmt.Fprintf(aligned, "  %s\n", strings.Join(c.Head, "\t"))
		for _, row := range c.Rows {
			_, _ = fmt.Fprintf(aligned, "  %s\t%s\n", row.Rival, strings.Join(row.Cells, "\t"))
		}
	}
	if promises := t.Suite.Promises; promises != nil && len(t.Cases) > 0 {
		_, _ = fmt.Fprintf(aligned, "\npromises\n  rival\t%s\n", strings.Join(measure.PromiseHead(), "\t"))
		for i := range promises {
			_, _ = fmt.Fprintf(aligned, "  %s\t%s\n", promises[i].Rival, strings.Join(promises[i].Cells(), "\t"))
		}
	}
	return aligned.Flush()
}

// wrap breaks a text into lines that fit a terminal.
func wrap(text string) string {
	const width = 100
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
