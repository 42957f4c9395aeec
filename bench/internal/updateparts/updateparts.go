// Package updateparts says what an update consists of: from a run of the suite update,
// the line that its time follows as objects get more counters, and the share of
// the system call.
package updateparts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// Parts are those of an update of one rival, with or without readers.
type Parts struct {
	Readers, Rival string

	Update stats.Line // nanoseconds by stripes
	Sum    stats.Line // the same of the sum of one object's counters, from the nearest cache
	Turns  stats.Line // the same where objects take turns, as in updates

	// Of objects with the fewest stripes:

	Fence float64 // nanoseconds of the system call by itself; 0 if there is none
	Share float64 // of the fence in the update
}

// Of returns the parts that a run has measured. The lines are through the medians
// of its cases.
func Of(run *results.Run) (all []Parts, err error) {
	type points struct{ stripes, update, sum, turns, fence []float64 }
	found := make(map[string]*points)
	var order []string
	for _, s := range run.Series {
		if s.Suite != "update" {
			continue
		}
		readers, _, _ := strings.Cut(s.Case, "/")
		name := readers + " " + s.Rival
		p := found[name]
		if p == nil {
			p = new(points)
			found[name] = p
			order = append(order, name)
		}
		median := func(unit string) float64 { return stats.Of(s.Values[unit]).Median }
		p.stripes = append(p.stripes, median("stripes"))
		p.update = append(p.update, median("ns/op"))
		p.sum = append(p.sum, median("sum-ns"))
		p.turns = append(p.turns, median("turns-ns"))
		p.fence = append(p.fence, median("fence-ns")) // NaN if there is none
	}
	slices.SortStableFunc(order, func(a, b string) int {
		readersA, _, _ := strings.Cut(a, " ")
		readersB, _, _ := strings.Cut(b, " ")
		return strings.Compare(readersA, readersB)
	})
	for _, name := range order {
		p := found[name]
		readers, rival, _ := strings.Cut(name, " ")
		parts := Parts{Readers: readers, Rival: rival}
		var ok bool
		if parts.Update, ok = stats.FitLine(p.stripes, p.update); !ok {
			return nil, fmt.Errorf("%s, %s: a line needs two numbers of stripes", readers, rival)
		}
		parts.Sum, _ = stats.FitLine(p.stripes, p.sum)
		parts.Turns, _ = stats.FitLine(p.stripes, p.turns)
		fewest := slices.Index(p.stripes, slices.Min(p.stripes))
		if fence := p.fence[fewest]; fence > 0 {
			parts.Fence, parts.Share = fence, fence/p.update[fewest]
		}
		all = append(all, parts)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the run has no sample of the suite update")
	}
	return all, nil
}

// Table returns the parts in Markdown.
func Table(run *results.Run) (string, error) {
	all, err := Of(run)
	if err != nil {
		return "", err
	}
	ns := func(v float64) string { return report.Format(v, "ns/op") }
	var b strings.Builder
	b.WriteString("| | without stripes | each stripe | each stripe of a sum | of sums in turn | fence | fence's share of an update |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range all {
		fence, share := "", ""
		if p.Fence > 0 {
			fence, share = ns(p.Fence), fmt.Sprintf("%.0f %%", 100*p.Share)
		}
		_, _ = fmt.Fprintf(&b, "| %s, %s | %s | %s | %s | %s | %s | %s |\n", p.Rival, p.Readers, ns(p.Update.Intercept), ns(p.Update.Slope), ns(p.Sum.Slope), ns(p.Turns.Slope), fence, share)
	}
	return b.String(), nil
}
