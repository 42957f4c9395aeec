package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// table returns what stands in a block: after "bench/results" nothing for the
// figures that matter most, "machine", "targets", or a suite with options.
func (s *Source) table(what string) (string, error) {
	words := strings.Fields(what)
	if len(words) == 0 || words[0] != "bench/results" {
		return "", fmt.Errorf("it must begin with bench/results")
	}
	if words = words[1:]; len(words) == 0 {
		return s.summary()
	}
	switch words[0] {
	case "machine":
		return s.machine(), nil
	case "targets":
		return report.MarkdownTargets(s.Run), nil
	}
	i := slices.IndexFunc(s.Suites, func(suite measure.Suite) bool { return suite.Name == words[0] })
	if i < 0 {
		return "", fmt.Errorf("there is no suite %q", words[0])
	}
	o, err := parse(words[1:], &s.Suites[i])
	if err != nil {
		return "", err
	}
	return s.matrix(&s.Suites[i], o)
}

// machine says where and how the figures were measured.
func (s *Source) machine() string {
	m, others := s.Run.Machine, ""
	if s.Run.Others >= 0 {
		others = fmt.Sprintf(", others had %.0f %% of the processors", 100*s.Run.Others)
	}
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; `%s`, %.10s%s; raw figures in [bench/results](https://github.com/poolswap/poolswap/tree/main/bench/results).\n",
		m.CPU, m.Cores, m.OS, m.Arch, m.Go, s.Run.Command, s.Run.Started, others)
}

// summary is what a README shows: the hot swap, and reads on one and two cores.
func (s *Source) summary() (string, error) {
	swap, err := s.table("bench/results hotswap rivals=PoolSwap,AtomicPtr,MutexAlloc,MutexInPlace,RWMutexRef")
	if err != nil {
		return "", err
	}
	reads, err := s.table("bench/results read case=procs=1/goroutines=1/writer=none,procs=2/goroutines=2/writer=none rivals=PoolSwap,Reader.Load,atomic.Pointer,RWMutexRef")
	if err != nil {
		return "", err
	}
	return "\n" + s.machine() +
		"\nTime per operation where goroutines on all cores read a map of 100,000 entries and, in a share of the operations,\nreplace it, under three memory limits:\n\n" + swap +
		"\nTime of a read by itself, on one core and on two:\n\n" + reads + "\n", nil
}

// options choose what a table of a suite shows.
type options struct {
	units  []string
	cases  []string // only those whose name has one of these in it
	rivals []string // nil: all of the first case
	ratio  bool     // ratios to ours in place of values
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
		default:
			return o, fmt.Errorf("%q is no option; there are unit=, case=, rivals= and ratio", word)
		}
	}
	return o, nil
}

// matrix returns a table with a row for each case, or each unit of each, and a
// column for each rival.
func (s *Source) matrix(suite *measure.Suite, o options) (string, error) {
	var b strings.Builder
	for i := range suite.Cases {
		c := &suite.Cases[i]
		if !slices.ContainsFunc(o.cases, func(part string) bool { return strings.Contains(c.Name, part) }) {
			continue
		}
		for _, unit := range o.units {
			ours := s.Run.Find(suite.Name, c.Name, c.Ours).Values[unit]
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
				_, _ = fmt.Fprintf(&b, " %s |", o.cell(s.Run.Find(suite.Name, c.Name, rival).Values[unit], ours, unit))
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

// value returns an inline figure: "suite/case/rival unit", or
// "suite/case/rival:base unit" for the ratio of two rivals.
func (s *Source) value(what string) (string, error) {
	path, unit, ok := strings.Cut(what, " ")
	suite, rest, ok2 := strings.Cut(path, "/")
	slash := strings.LastIndexByte(rest, '/')
	if !ok || !ok2 || slash < 0 {
		return "", fmt.Errorf("it must read suite/case/rival unit")
	}
	c, rival := rest[:slash], rest[slash+1:]
	rival, base, isRatio := strings.Cut(rival, ":")
	values := s.Run.Find(suite, c, rival).Values[unit]
	if len(values) == 0 {
		return "", fmt.Errorf("the results hold no %s of %s", unit, path)
	}
	if !isRatio {
		return report.Format(stats.Of(values).Median, unit), nil
	}
	r := stats.Compare(values, s.Run.Find(suite, c, base).Values[unit])
	if r.N == 0 {
		return "", fmt.Errorf("the results hold no %s of %s to compare with", unit, base)
	}
	return report.FormatRatio(r.Median), nil
}
