// Package report shows what a run has measured: as tables on a terminal, as one
// page of HTML with charts, and as the tables that documents quote.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// Table is what one suite has measured, ready to be shown.
type Table struct {
	Suite *runner.Suite
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
func NewTable(s *runner.Suite, run *runner.Run) Table {
	t := Table{Suite: s}
	for i := range s.Cases {
		if tc := newTableCase(s, &s.Cases[i], run); len(tc.Rows) > 0 {
			t.Cases = append(t.Cases, tc)
		}
	}
	return t
}

func newTableCase(s *runner.Suite, c *runner.Case, run *runner.Run) TableCase {
	tc := TableCase{Name: c.Name, Head: []string{"rival"}}
	for i := range c.Rivals {
		if rival := &c.Rivals[i]; len(run.Find(s.Name, c.Name, rival.Name).Iterations) > 0 {
			tc.Rows = append(tc.Rows, Row{Rival: rival.Name, Ours: rival.Name == c.Ours})
		}
	}
	for _, column := range s.Columns {
		values := func(rival string) []float64 { return run.Values(s.Name, c.Name, rival, column.Unit) }
		if !slices.ContainsFunc(tc.Rows, func(r Row) bool { return len(values(r.Rival)) > 0 }) {
			continue
		}
		first := len(tc.Head) == 1
		tc.Head = append(tc.Head, column.Title)
		if first {
			tc.Head = append(tc.Head, "±", "to ours")
		}
		base := slices.IndexFunc(c.Rivals, func(r runner.Rival) bool { return r.Published[column.Unit] > 0 })
		if base >= 0 {
			tc.Head = append(tc.Head, "published")
		}
		for i := range tc.Rows {
			row := &tc.Rows[i]
			summary := runner.Summarize(values(row.Rival))
			row.Cells = append(row.Cells, Format(summary.Median, column.Unit))
			if first {
				row.Cells = append(row.Cells, spread(summary), ratio(values(row.Rival), values(c.Ours)))
			}
			if base >= 0 {
				row.Cells = append(row.Cells, published(c.Find(row.Rival), &c.Rivals[base], column.Unit))
			}
		}
	}
	return tc
}

func spread(s runner.Summary) string {
	if s.N < 2 {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*s.Spread())
}

// ratio is empty where ours is nothing, and ends in ~ where the difference may
// be chance.
func ratio(values, ours []float64) string {
	r := runner.Ratio(values, ours)
	switch {
	case r != r: // NaN
		return ""
	case r != 1 && runner.Chance(values, ours) >= 0.05:
		return FormatRatio(r) + " ~"
	}
	return FormatRatio(r)
}

// published is the value that others have published, with its ratio to that of
// base, and empty where nothing was published.
func published(rival, base *runner.Rival, unit string) string {
	value, ok := rival.Published[unit]
	if !ok {
		return ""
	}
	return Format(value, unit) + " (" + FormatRatio(value/base.Published[unit]) + ")"
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
		_, _ = fmt.Fprintf(aligned, "\npromises\n  rival\t%s\n", strings.Join(runner.PromiseHead, "\t"))
		for i := range promises {
			_, _ = fmt.Fprintf(aligned, "  %s\t%s\n", promises[i].Rival, strings.Join(promises[i].Cells(), "\t"))
		}
	}
	return aligned.Flush()
}

// wrap breaks a text into lines that fit a terminal.
func wrap(text string) string {
	const width = 100
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
