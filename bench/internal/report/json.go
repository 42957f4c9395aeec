package report

import (
	"encoding/json"
	"math"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
	"github.com/poolswap/poolswap/bench/internal/targets"
)

// encode writes a run, the summaries of its series and what it says of the
// targets as JSON.
func encode(run *results.Run) ([]byte, error) {
	type summary struct {
		Suite string                   `json:"suite"`
		Case  string                   `json:"case"`
		Rival string                   `json:"rival"`
		Units map[string]stats.Summary `json:"units"`
	}
	type judged struct {
		targets.Target
		Measured *float64 `json:"measured"` // null if not measured
	}
	document := struct {
		*results.Run
		Summaries []summary `json:"summaries"`
		Targets   []judged  `json:"targets"`
	}{Run: run}
	for _, s := range run.Series {
		units := make(map[string]stats.Summary, len(s.Values))
		for unit, values := range s.Values {
			units[unit] = stats.Of(values)
		}
		document.Summaries = append(document.Summaries, summary{s.Suite, s.Case, s.Rival, units})
	}
	for _, t := range targets.Of(run) {
		j := judged{Target: t}
		if !math.IsNaN(t.Measured) {
			j.Measured = &t.Measured
		}
		document.Targets = append(document.Targets, j)
	}
	return json.MarshalIndent(document, "", "\t")
}
