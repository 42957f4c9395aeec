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
	m := s.Run.Machine
	return fmt.Sprintf("%s, %d cores, %s/%s, %s; `%s`, %.10s; raw figures in [bench/results](https://github.com/poolswap/poolswap/tree/main/bench/results).\n",
		m.CPU, m.Cores, m.OS, m.Arch, m.Go, s.Run.Command, s.Run.Started)
}

// summary is the table that a README shows: the hot swap, and reads at one and
// two cores.
func (s *Source) summary() (string, error) {
	swap, err := s.table("bench/results hotswap")
	if err != nil {
		return "", err
	}
	alone, err := s.table("bench/results read case=procs=1/goroutines=1/writer=none")
	if err != nil {
		return "", err
	}
	two, err := s.table("bench/results read case=procs=2/goroutines=2/writer=none")
	if err != nil {
		return "", err
	}
	rows := strings.SplitAfter(two, "\n")
	return "\nTime per operation, " + s.machine() + "\n" + swap + "\n" + alone + rows[len(rows)-2], nil
}

// options choose what a table of a suite shows.
type options struct {
	unit   string
	cases  string   // only those whose name has this in it
	rivals []string // nil: all of the first case
	ratio  bool     // ratios to ours in place of values
}

func parse(words []string, suite *measure.Suite) (options, error) {
	o := options{unit: suite.Columns[0].Unit}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "unit":
			o.unit = value
		case "case":
			o.cases = value
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

// matrix returns a table with a row for each case and a column for each rival.
func (s *Source) matrix(suite *measure.Suite, o options) (string, error) {
	var b strings.Builder
	for i := range suite.Cases {
		c := &suite.Cases[i]
		if !strings.Contains(c.Name, o.cases) {
			continue
		}
		ours := s.Run.Find(suite.Name, c.Name, c.Ours).Values[o.unit]
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
		_, _ = fmt.Fprintf(&b, "| %s |", strings.ReplaceAll(c.Name, "/", ", "))
		for _, rival := range o.rivals {
			values := s.Run.Find(suite.Name, c.Name, rival).Values[o.unit]
			if o.ratio {
				_, _ = fmt.Fprintf(&b, " %s |", report.FormatRatio(stats.Compare(values, ours).Median))
			} else {
				_, _ = fmt.Fprintf(&b, " %s |", report.Format(stats.Of(values).Median, o.unit))
			}
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("the results hold no %s for it", o.unit)
	}
	return b.String(), nil
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
