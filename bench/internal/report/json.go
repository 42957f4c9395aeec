package report

import (
	"encoding/json"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/stats"
)

// encode writes a run and the summaries of its series as JSON.
func encode(run *results.Run) ([]byte, error) {
	type summary struct {
		Suite string                   `json:"suite"`
		Case  string                   `json:"case"`
		Rival string                   `json:"rival"`
		Units map[string]stats.Summary `json:"units"`
	}
	document := struct {
		*results.Run
		Summaries []summary `json:"summaries"`
	}{Run: run}
	for _, s := range run.Series {
		units := make(map[string]stats.Summary, len(s.Values))
		for unit, values := range s.Values {
			units[unit] = stats.Of(values)
		}
		document.Summaries = append(document.Summaries, summary{s.Suite, s.Case, s.Rival, units})
	}
	return json.MarshalIndent(document, "", "\t")
}
