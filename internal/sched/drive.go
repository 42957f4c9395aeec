//go:build poolswapsched

package sched

import (
	"errors"
	"fmt"

	"github.com/poolswap/poolswap/internal/seam"
)

// start begins a run and sets up the scenario in it.
func (w *World) start(scenario Scenario, usage *usage, trace *trace) {
	w.begin(usage, trace)
	seam.Install(w)
	scenario(w)
}

// drive runs the world to its end, or until choose returns false. It calls choose
// before each transition.
func (w *World) drive(choose func([]choice) (int, bool)) {
	defer seam.Install(nil)
	defer w.close()
	for {
		ways := w.choices(w.ways[:0])
		w.ways = ways
		if w.ended(ways) {
			return
		}
		i, on := choose(ways)
		if !on {
			return
		}
		w.take(ways[i])
	}
}

// replay repeats the failing run and records its trace. path is the choice made
// at each branch.
func replay(config Config, scenario Scenario, usage *usage, failure error, path []int) error {
	t := new(trace)
	w := newWorld(config)
	defer w.idle.stop()
	w.start(scenario, usage, t)
	at := 0
	w.drive(func(ways []choice) (int, bool) {
		if len(ways) == 1 {
			return 0, true
		}
		if at == len(path) {
			return 0, false
		}
		at++
		return path[at-1], true
	})
	if w.failure == nil && !errors.Is(failure, errLivelock) {
		return fmt.Errorf("%w\nthe run could not be repeated: the scenario is not the same each time", failure)
	}
	return fmt.Errorf("%w%s", failure, t.text.String())
}
