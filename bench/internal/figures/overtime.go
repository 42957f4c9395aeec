package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// blocks are the heights of a plot of characters.
var blocks = []rune("▁▂▃▄▅▆▇█")

// everySeconds is how far apart the characters of a plot are: a minute of them fits
// a page.
const everySeconds = 2

// overTime returns the first plot over time of a suite: a row of characters for each
// rival, as high as the medians, from zero to the largest of all.
func overTime(run *results.Run, suite *measure.Suite, o options) (string, error) {
	at := slices.IndexFunc(suite.Charts, func(c measure.Chart) bool { return c.Kind == measure.Plot && c.X == "" })
	if at < 0 {
		return "", fmt.Errorf("suite %s has no plot over time", suite.Name)
	}
	plot := suite.Charts[at]
	medians := make(map[string][]float64)
	highest, last := 0.0, 0.0
	rivals := o.rivals
	if rivals == nil {
		for _, rival := range suite.Find(plot.Points[0].Case).Rivals {
			rivals = append(rivals, rival.Name)
		}
	}
	for _, rival := range rivals {
		for _, p := range plot.Points {
			if median := stats.Of(run.Find(suite.Name, p.Case, rival).Values[p.Unit]).Median; !math.IsNaN(median) {
				highest, last = max(highest, median), max(last, p.At)
				medians[rival] = append(medians[rival], median)
			}
		}
	}
	if highest == 0 {
		return "", fmt.Errorf("the results hold no %s", plot.Title)
	}
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "| | 0 to %g %s, up to %s |\n|---|---|\n", last, plot.Axis, report.Format(highest, plot.Points[0].Unit))
	for _, rival := range rivals {
		if len(medians[rival]) == 0 {
			continue
		}
		var row []rune
		for i := 0; i < len(medians[rival]); i += everySeconds {
			eighths := math.Ceil(medians[rival][i] / highest * float64(len(blocks)))
			row = append(row, blocks[max(1, int(eighths))-1])
		}
		_, _ = fmt.Fprintf(&b, "| %s | `%s` |\n", rival, string(row))
	}
	return b.String(), nil
}
