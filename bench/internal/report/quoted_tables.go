package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// table returns the content of a block. Its mark names the folder of a run, and
// then "machine", or a suite with options.
func (q *Quotes) table(mark string) (string, error) {
	words := strings.Fields(mark)
	if len(words) < 2 || q.Runs[words[0]] == nil {
		return "", fmt.Errorf("it must begin with the folder of a run, %s, and then have machine or a suite", strings.Join(slices.Sorted(maps.Keys(q.Runs)), ", "))
	}
	run := q.Runs[words[0]]
	if words[1] == "machine" {
		return machine(words[0], run), nil
	}
	i := slices.IndexFunc(q.Suites, func(suite runner.Suite) bool { return suite.Name == words[1] })
	if i < 0 {
		return "", fmt.Errorf("there is no suite %q", words[1])
	}
	t := quoted{suite: &q.Suites[i], run: run}
	if err := t.parse(words[2:]); err != nil {
		return "", err
	}
	rows := t.byCase
	if t.byRival {
		rows = t.byRivals
	}
	table := rows()
	if len(table) < 2 {
		return "", fmt.Errorf("the results hold no %s for it", strings.Join(t.units, ", "))
	}
	var b strings.Builder
	for i, row := range table {
		pad := " "
		if i == 1 {
			pad = "" // the line below the head
		}
		_, _ = fmt.Fprintf(&b, "|%s%s%s|\n", pad, strings.Join(row, pad+"|"+pad), pad)
	}
	return strings.Replace(b.String(), "|  |", "| |", 1), nil
}

// machine says where and how the figures were measured.
func machine(folder string, run *runner.Run) string {
	m, others := run.Machine, ""
	if run.Others >= 0 {
		others = fmt.Sprintf(", other processes used %.0f %% of the CPU", 100*run.Others)
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; `%s`, %.10s%s; raw figures in [%s](https://github.com/poolswap/poolswap/tree/main/%s).\n",
		m.Name(), m.Cores, m.OS, m.Arch, m.Go, run.Command, run.Started, others, folder, folder)
}

// quoted is a table of a suite, as a mark asks for it.
type quoted struct {
	suite   *runner.Suite
	run     *runner.Run
	units   []string
	cases   []string // only those whose name has one of these in it
	rivals  []string // nil: all of the first case
	ratio   bool     // ratios to ours in place of values
	byRival bool     // a row for each rival, with its promises, and a column for each case
}

func (t *quoted) parse(words []string) error {
	t.units, t.cases = []string{t.suite.Columns[0].Unit}, []string{""}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "unit":
			t.units = strings.Split(value, ",")
		case "case":
			t.cases = strings.Split(value, ",")
		case "rivals":
			t.rivals = strings.Split(value, ",")
		case "ratio":
			t.ratio = true
		case "by-rival":
			t.byRival = true
		default:
			return fmt.Errorf("%q is no option; there are unit=, case=, rivals=, ratio and by-rival", word)
		}
	}
	return nil
}

// measured returns the cases that were asked for and have values of ours in a unit.
func (t *quoted) measured(unit string) (cases []*runner.Case) {
	for i := range t.suite.Cases {
		c := &t.suite.Cases[i]
		asked := slices.ContainsFunc(t.cases, func(part string) bool { return strings.Contains(c.Name, part) })
		if asked && len(t.run.Values(t.suite.Name, c.Name, c.Ours, unit)) > 0 {
			cases = append(cases, c)
		}
	}
	return cases
}

// byCase returns a row for each case, or each unit of each, and a column for each
// rival.
func (t *quoted) byCase() (table [][]string) {
	for _, c := range t.measured(t.units[0]) {
		if t.rivals == nil {
			for _, rival := range c.Rivals {
				t.rivals = append(t.rivals, rival.Name)
			}
		}
		if table == nil {
			table = append(table, append([]string{""}, t.rivals...), slices.Insert(slices.Repeat([]string{"--:"}, len(t.rivals)), 0, "---"))
		}
		for _, unit := range t.units {
			row := []string{t.label(c, unit)}
			for _, rival := range t.rivals {
				row = append(row, t.cell(c, rival, unit))
			}
			table = append(table, row)
		}
	}
	return table
}

// label heads a row.
func (t *quoted) label(c *runner.Case, unit string) string {
	name := strings.ReplaceAll(c.Name, "/", ", ")
	if len(t.units) == 1 {
		return name
	}
	for _, column := range t.suite.Columns {
		if column.Unit == unit {
			unit = column.Title
		}
	}
	return name + ": " + unit
}

// cell is the figure of one rival.
func (t *quoted) cell(c *runner.Case, rival, unit string) string {
	values := t.run.Values(t.suite.Name, c.Name, rival, unit)
	if t.ratio {
		return FormatRatio(runner.Ratio(values, t.run.Values(t.suite.Name, c.Name, c.Ours, unit)))
	}
	return Format(runner.Median(values), unit)
}

// byRivals returns a row for each rival: its description, its figure in each case,
// and its promises.
func (t *quoted) byRivals() (table [][]string) {
	cases := t.measured(t.units[0])
	if len(cases) == 0 {
		return nil
	}
	for i, promise := range t.suite.Promises {
		var cells []string
		switch {
		case i > 0 && t.rivals != nil && !slices.Contains(t.rivals, promise[0]):
			continue
		case i == 0:
			promise = append([]string{""}, promise[1:]...)
		}
		for _, c := range cases {
			if i == 0 {
				cells = append(cells, strings.ReplaceAll(c.Name, "/", ", "))
			} else {
				cells = append(cells, t.cell(c, promise[0], t.units[0]))
			}
		}
		table = append(table, slices.Concat(promise[:2], cells, promise[2:]))
		if i == 0 {
			table = append(table, slices.Concat([]string{"---", "---"}, slices.Repeat([]string{"--:"}, len(cases)), slices.Repeat([]string{"---"}, len(promise)-2)))
		}
	}
	return table
}
