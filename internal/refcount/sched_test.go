//go:build poolswapsched

package refcount_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/sched"
)

// size returns the number that the environment has under that name, or else
// usual, or short with -short.
func size(t *testing.T, name string, usual, short int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" && testing.Short() {
		return short
	}
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestEveryInterleavingOfSmallScenarios goes through POOLSWAP_STATES states of
// each at most; 0 is no limit.
func TestEveryInterleavingOfSmallScenarios(t *testing.T) {
	begun := time.Now()
	limit := size(t, "POOLSWAP_STATES", 60_000, 10_000)
	t.Run("a little of each", func(t *testing.T) { // where most bugs show, so that the test fails soon
		const little = 1000
		for _, s := range scenarios {
			if r := s.explore(little); r.Failure != nil {
				t.Fatalf("%s: %v", s.name, r.Failure)
			}
		}
	})
	var all sched.Result
	ran, complete := 0, 0
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			ran++
			r := s.explore(limit)
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			t.Logf("%d states, %d runs, longest %d steps, complete %v", r.States, r.Runs, r.MaxLength, r.Complete)
			all.States += r.States
			all.Runs += r.Runs
			if r.Complete {
				complete++
			}
		})
	}
	t.Logf("%d of %d scenarios explored completely; %d states, %d runs, in %v",
		complete, len(scenarios), all.States, all.Runs, time.Since(begun).Round(time.Second))
	if least := map[int]int{10_000: 45, 60_000: 57, 0: len(scenarios)}[limit]; complete < least && ran == len(scenarios) {
		t.Errorf("%d scenarios were explored completely within %d states each, want %d", complete, limit, least)
	}
}

// TestSleepSetsLeaveOutNoState: what Explore leaves out is transitions, which
// lead to states that it sees anyway.
func TestSleepSetsLeaveOutNoState(t *testing.T) {
	const enough = 10_000
	compared := 0
	for _, s := range scenarios {
		few := s.explore(enough)
		if few.Failure != nil {
			t.Fatal(few.Failure)
		}
		if !few.Complete {
			continue
		}
		s.config.EveryOrder = true
		all := s.explore(0)
		if few.States != all.States || few.Runs > all.Runs {
			t.Errorf("%s: %d states in %d runs, and in every order %d states in %d runs",
				s.name, few.States, few.Runs, all.States, all.Runs)
		}
		compared++
	}
	if compared < 8 {
		t.Errorf("%d scenarios were small enough", compared)
	}
}
