//go:build poolswapsched

package sched_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/sched"
)

// torn has a bug of depth two: the other thread must run between a load and its
// store.
func torn(w *sched.World) {
	x := word(w, "x")
	for _, name := range []string{"left", "right"} {
		w.Start(name, func() {
			for range 3 {
				x.Store(x.Load() + 1)
			}
		})
	}
	w.AtEnd(func() {
		if x.Load() != 6 {
			w.Fail("an update was lost")
		}
	})
}

func TestSampleFindsABugFromEverySeedAndRepeatsIt(t *testing.T) {
	for _, changes := range []int{0, 1, 2} {
		took := map[int]bool{}
		for seed := range uint64(20) {
			r := sched.Sample(sched.Config{}, torn, 1000, changes, seed)
			if r.Failure == nil || !strings.Contains(r.Failure.Error(), "an update was lost\n") {
				t.Fatalf("%d changes of priority, seed %d: %v", changes, seed, r.Failure)
			}
			again := sched.Sample(sched.Config{}, torn, 1000, changes, seed)
			if again.Runs != r.Runs || again.Failure == nil || again.Failure.Error() != r.Failure.Error() {
				t.Errorf("%d changes of priority, seed %d: run %d, and again run %d", changes, seed, r.Runs, again.Runs)
			}
			took[r.Runs] = true
		}
		if len(took) == 1 {
			t.Errorf("%d changes of priority: every seed took as many runs: %v", changes, took)
		}
	}
}

func TestSampleOfACorrectProgramFindsNothing(t *testing.T) {
	for changes := range 3 {
		r := sched.Sample(sched.Config{}, twoMutexes("ab", "ab"), 500, changes, 1)
		if r.Failure != nil || r.Runs != 500 {
			t.Errorf("%d changes of priority: %d runs, %v", changes, r.Runs, r.Failure)
		}
	}
}
