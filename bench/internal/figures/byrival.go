package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// byRival returns a table with a row for each rival: what it is, its figure in
// each case, and what it promises.
func byRival(run *results.Run, suite *measure.Suite, o options) (string, error) {
	var cases []*measure.Case
	for i := range suite.Cases {
		c := &suite.Cases[i]
		asked := slices.ContainsFunc(o.cases, func(part string) bool { return strings.Contains(c.Name, part) })
		if asked && len(run.Find(suite.Name, c.Name, c.Ours).Values[o.units[0]]) > 0 {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return "", fmt.Errorf("the results hold no %s for it", o.units[0])
	}
	promised := measure.PromiseHead()
	head := []string{"", promised[0]}
	for _, c := range cases {
		head = append(head, strings.ReplaceAll(c.Name, "/", ", "))
	}
	head = append(head, promised[1:]...)

	var b strings.Builder
	row := func(cells []string) { _, _ = fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(head)
	b.WriteString("|---|---|" + strings.Repeat("--:|", len(cases)) + strings.Repeat("---|", len(promised)-1) + "\n")
	for i := range suite.Promises {
		promise := &suite.Promises[i]
		if o.rivals != nil && !slices.Contains(o.rivals, promise.Rival) {
			continue
		}
		answers := promise.Cells()
		cells := []string{promise.Rival, answers[0]}
		for _, c := range cases {
			ours := run.Find(suite.Name, c.Name, c.Ours).Values[o.units[0]]
			cells = append(cells, o.cell(run.Find(suite.Name, c.Name, promise.Rival).Values[o.units[0]], ours, o.units[0]))
		}
		row(append(cells, answers[1:]...))
	}
	return strings.Replace(b.String(), "|  |", "| |", 1), nil
}
