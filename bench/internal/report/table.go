// Package report shows the measurements of a run: as tables on a terminal, as one
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

// Table has the measurements of one suite, ready to be shown.
type Table struct {
	Suite *runner.Suite
	Cases []TableCase
}

// TableCase is the part of a table that compares rivals with each other: a head,
// and a row for each rival, which begins with its name.
type TableCase struct {
	Name, Ours string
	Rows       [][]string
}

// NewTable returns the table of a suite. Cases without a sample are left out,
// and so are columns of which a case knows nothing.
func NewTable(s *runner.Suite, run *runner.Run) Table {
	t := Table{Suite: s}
	for i := range s.Cases {
		if tc := newTableCase(s, &s.Cases[i], run); len(tc.Rows) > 1 {
			t.Cases = append(t.Cases, tc)
		}
	}
	return t
}

func newTableCase(s *runner.Suite, c *runner.Case, run *runner.Run) TableCase {
	rows := [][]string{{"rival"}}
	for _, rival := range c.Rivals {
		if len(run.Find(s.Name, c.Name, rival.Name).Iterations) > 0 {
			rows = append(rows, []string{rival.Name})
		}
	}
	for _, column := range s.Columns {
		values := func(rival string) []float64 { return run.Values(s.Name, c.Name, rival, column.Unit) }
		if !slices.ContainsFunc(rows, func(row []string) bool { return len(values(row[0])) > 0 }) {
			continue
		}
		first := len(rows[0]) == 1
		base := slices.IndexFunc(c.Rivals, func(r runner.Rival) bool { return r.Published[column.Unit] > 0 })
		for i := range rows {
			add := func(cells ...string) { rows[i] = append(rows[i], cells...) }
			summary := runner.Summarize(values(rows[i][0]))
			switch {
			case i == 0 && first:
				add(column.Title, "±", "to ours")
			case i == 0:
				add(column.Title)
			case first:
				add(Format(summary.Median, column.Unit), spread(summary), ratio(values(rows[i][0]), values(c.Ours)))
			default:
				add(Format(summary.Median, column.Unit))
			}
			switch {
			case base >= 0 && i == 0:
				add("published")
			case base >= 0:
				add(published(c.Find(rows[i][0]), &c.Rivals[base], column.Unit))
			}
		}
	}
	return TableCase{c.Name, c.Ours, rows}
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
	cases := t.Cases
	if t.Suite.Promises != nil && len(cases) > 0 {
		cases = append(slices.Clone(cases), TableCase{Name: "promises", Rows: t.Suite.Promises})
	}
	for _, c := range cases {
		_, _ = fmt.Fprintf(aligned, "\n%s\n", c.Name)
		for _, row := range c.Rows {
			_, _ = fmt.Fprintf(aligned, "  %s\n", strings.Join(row, "\t"))
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
