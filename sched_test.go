//go:build poolswapsched

package poolswap_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/sched"
)

// depth is how many states a scenario may take, POOLSWAP_STATES or else 60,000
// (10,000 with -short); 0 is no limit.
func depth(t *testing.T) int {
	text := os.Getenv("POOLSWAP_STATES")
	if text == "" && testing.Short() {
		return 10_000
	}
	if text == "" {
		return 60_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("POOLSWAP_STATES: %v", err)
	}
	return n
}

func TestEveryInterleavingOfSmallScenarios(t *testing.T) {
	begun := time.Now()
	limit := depth(t)
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
	if least := map[int]int{10_000: 14, 60_000: 20, 0: len(scenarios)}[limit]; complete < least && ran == len(scenarios) {
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
