package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/targets"
)

// WriteTargets writes the verdict of the run on each target, for a terminal.
func WriteTargets(w io.Writer, run *results.Run) error {
	all := targets.Of(run)
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(aligned, "\ntargets\n\n  target\tlimit\tmeasured\t\n")
	for _, t := range all {
		if t.Verdict == targets.NotMeasured {
			continue
		}
		_, _ = fmt.Fprintf(aligned, "  %s\t%s\t%s\t%s\n", t.What, limit(t), figure(t.Measured, t.Unit), t.Verdict)
	}
	if err := aligned.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", tally(all))
	return err
}

// tally counts the verdicts in words.
func tally(all []targets.Target) string {
	count := make(map[targets.Verdict]int)
	for _, t := range all {
		count[t.Verdict]++
	}
	text := fmt.Sprintf("%d of %d targets met, %d not met", count[targets.Met], len(all), count[targets.NotMet])
	if n := count[targets.NotMeasured]; n > 0 {
		text += fmt.Sprintf(", %d not measured by this run", n)
	}
	return text
}

func limit(t targets.Target) string {
	switch {
	case t.Below:
		return "below " + figure(t.Limit, t.Unit)
	case t.Least:
		return "at least " + figure(t.Limit, t.Unit)
	}
	return "at most " + figure(t.Limit, t.Unit)
}

// figure is Format that names the unit where Format does not.
func figure(value float64, unit string) string {
	switch unit {
	case "x":
		return FormatRatio(value)
	case "allocs/op", "maps/op", "calls", "objects", "resets":
		return Format(value, unit) + " " + unit
	case "B/op":
		return Format(value, unit) + "/op"
	}
	return Format(value, unit)
}
