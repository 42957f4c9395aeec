// Package suites defines the measurements: each suite in a file of its own.
package suites

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// All returns the suites in the order in which they run.
func All() []runner.Suite {
	return []runner.Suite{hotswap(), parsed(), spares(), read(), lastRelease(), cadence(), footprint(), pooling(), delta(), stringMaps(), fleet(), fleetMany(), fleetDelta(), programs(), scaling(), steady()}
}

// each returns a rival for each name.
func each(names []string, sample func(config runner.Config, rival string) (runner.Sample, error)) (all []runner.Rival) {
	for _, name := range names {
		all = append(all, runner.Rival{Name: name, Sample: func(config runner.Config) (runner.Sample, error) { return sample(config, name) }})
	}
	return all
}

// points returns a point for each case that has the key and the text in its name,
// labelled with the value of the key.
func points(s *runner.Suite, unit, key, text string) (all []runner.Point) {
	for _, c := range s.Cases {
		_, value, found := strings.Cut("/"+c.Name, "/"+key+"=")
		if found && strings.Contains(c.Name, text) {
			value, _, _ = strings.Cut(value, "/")
			all = append(all, runner.Point{Label: value, Case: c.Name, Unit: unit})
		}
	}
	return all
}

// bars returns a chart with a group of bars for each of these points.
func bars(s *runner.Suite, title, unit, key, text string) runner.Chart {
	chart := runner.Chart{Title: title, Points: points(s, unit, key, text)}
	for i := range chart.Points {
		chart.Points[i].Label = fmt.Sprintf("%s %s", key, chart.Points[i].Label)
	}
	return chart
}

// sink keeps the compiler from dropping reads whose results are not used.
var sink atomic.Int64
