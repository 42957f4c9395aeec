package figures

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// table returns the content of a block. Its mark names the folder of a run, and
// then nothing for the most important figures, "machine", or a suite
// with options.
func (s *Source) table(what string) (string, error) {
	words := strings.Fields(what)
	if len(words) == 0 || s.Runs[words[0]] == nil {
		return "", fmt.Errorf("it must begin with the folder of a run: %s", strings.Join(slices.Sorted(maps.Keys(s.Runs)), ", "))
	}
	folder, run := words[0], s.Runs[words[0]]
	if words = words[1:]; len(words) == 0 {
		return s.summary(folder)
	}
	if words[0] == "machine" {
		return machine(folder, run), nil
	}
	i := slices.IndexFunc(s.Suites, func(suite measure.Suite) bool { return suite.Name == words[0] })
	if i < 0 {
		return "", fmt.Errorf("there is no suite %q", words[0])
	}
	o, err := parse(words[1:], &s.Suites[i])
	if err != nil {
		return "", err
	}
	if o.byRival {
		return byRival(run, &s.Suites[i], o)
	}
	return matrix(run, &s.Suites[i], o)
}

// machine says where and how the figures were measured.
func machine(folder string, run *results.Run) string {
	m, others := run.Machine, ""
	if run.Others >= 0 {
		others = fmt.Sprintf(", other processes used %.0f %% of the CPU", 100*run.Others)
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; `%s`, %.10s%s; raw figures in [%s](https://github.com/poolswap/poolswap/tree/main/%s).\n",
		m.Name(), m.Cores, m.OS, m.Arch, m.Go, run.Command, run.Started, others, folder, folder)
}

// summary is what a README shows: the hot swap, and reads on one and two cores.
func (s *Source) summary(folder string) (string, error) {
	swap, err := s.table(folder + " hotswap rivals=PoolSwap,AtomicPtr,MutexAlloc,MutexInPlace,RWMutexRef")
	if err != nil {
		return "", err
	}
	reads, err := s.table(folder + " read case=procs=1/goroutines=1/writer=none,procs=2/goroutines=2/writer=none rivals=PoolSwap,Reader.Load,atomic.Pointer,RWMutexRef")
	if err != nil {
		return "", err
	}
	return "\n" + machine(folder, s.Runs[folder]) +
		"\nTime per operation where goroutines on all cores read a map of 100,000 entries and, in a share of the operations,\nreplace it, under three memory limits:\n\n" + swap +
		"\nTime of a read by itself, on one core and on two:\n\n" + reads + "\n", nil
}

// options choose what a table of a suite shows.
type options struct {
	units  []string
	cases  []string // only those whose name has one of these in it
	rivals []string // nil: all of the first case
	ratio  bool     // ratios to ours in place of values

	byRival bool // a row for each rival, with its promises, and a column for each case
}

func parse(words []string, suite *measure.Suite) (options, error) {
	o := options{units: []string{suite.Columns[0].Unit}, cases: []string{""}}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "unit":
			o.units = strings.Split(value, ",")
		case "case":
			o.cases = strings.Split(value, ",")
		case "rivals":
			o.rivals = strings.Split(value, ",")
		case "ratio":
			o.ratio = true
		case "by-rival":
			o.byRival = true
		default:
			return o, fmt.Errorf("%q is no option; there are unit=, case=, rivals=, ratio and by-rival", word)
		}
	}
	return o, nil
}

// matrix returns a table with a row for each case, or each unit of each, and a
// column for each rival.
func matrix(run *results.Run, suite *measure.Suite, o options) (string, error) {
	var b strings.Builder
	for i := range suite.Cases {
		c := &suite.Cases[i]
		if !slices.ContainsFunc(o.cases, func(part string) bool { return strings.Contains(c.Name, part) }) {
			continue
		}
		for _, unit := range o.units {
			ours := run.Find(suite.Name, c.Name, c.Ours).Values[unit]
			if len(ours) == 0 {
				continue // a case without this unit, or not measured
			}
			if o.rivals == nil {
				for _, rival := range c.Rivals {
					o.rivals = append(o.rivals, rival.Name)
				}
			}
			if b.Len() == 0 {
				_, _ = fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(o.rivals, " | "), strings.Repeat("--:|", len(o.rivals)))
			}
			_, _ = fmt.Fprintf(&b, "| %s |", o.label(suite, c, unit))
			for _, rival := range o.rivals {
				_, _ = fmt.Fprintf(&b, " %s |", o.cell(run.Find(suite.Name, c.Name, rival).Values[unit], ours, unit))
			}
			b.WriteByte('\n')
		}
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("the results hold no %s for it", strings.Join(o.units, ", "))
	}
	return b.String(), nil
}

// label heads a row.
func (o *options) label(suite *measure.Suite, c *measure.Case, unit string) string {
	name := strings.ReplaceAll(c.Name, "/", ", ")
	if len(o.units) == 1 {
		return name
	}
	for _, column := range suite.Columns {
		if column.Unit == unit {
			unit = column.Title
		}
	}
	return name + ": " + unit
}

// cell is the figure of one rival.
func (o *options) cell(values, ours []float64, unit string) string {
	if o.ratio {
		return report.FormatRatio(stats.Compare(values, ours).Median)
	}
	return report.Format(stats.Of(values).Median, unit)
}
