//go:build poolswapsched

package refcount_test

import (
	"testing"
	"time"
)

// TestStatesThatAreTakenForOneAre: states are taken for one that differ in what
// the scheduler is told a thread does not need any more, in which of two
// threads that are alike is which, or in what counters add up to the same from.
// Going on from one of them alone leads to all that going on from each does, in
// all scenarios that take no more than POOLSWAP_EVERY_STATE states to see it.
//
// A scenario is first explored with states merged, and not at all without if
// that shows it to be too large.
func TestStatesThatAreTakenForOneAre(t *testing.T) {
	const apart = 10 // most scenarios have at least so many times the states without merging
	begun := time.Now()
	most := size(t, "POOLSWAP_EVERY_STATE", 250_000, 50_000)
	compared, states, taken := 0, 0, 0
	for _, s := range scenarios {
		merged := s.explore(most / apart)
		if merged.Failure != nil {
			t.Fatal(merged.Failure)
		}
		if !merged.Complete {
			continue
		}
		s.config.EveryState = true
		all := s.explore(most)
		if all.Failure != nil {
			t.Errorf("%s: %v", s.name, all.Failure)
		}
		if !all.Complete {
			continue
		}
		if merged.States != all.Merged {
			t.Errorf("%s: %d states, and %d when each of %d is gone on from", s.name, merged.States, all.Merged, all.States)
		}
		compared++
		states += all.States
		taken += all.Merged
	}
	t.Logf("%d scenarios from each of %d states, taken for %d, in %v", compared, states, taken, time.Since(begun).Round(time.Second))
	if states < 2*taken {
		t.Errorf("only %d states were kept apart that are taken for %d", states, taken)
	}
	if compared < 8 {
		t.Errorf("%d scenarios were small enough", compared)
	}
}
