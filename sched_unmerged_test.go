//go:build poolswapsched

package poolswap_test

import "testing"

// TestStatesThatAreTakenForOneAre: states are taken for one that differ in what
// the scheduler is told a thread does not need any more, in which of two
// threads that are alike is which, or in what counters add up to the same from.
// Going on from one of them alone leads to all that going on from each does.
func TestStatesThatAreTakenForOneAre(t *testing.T) {
	enough, most := 6_000, 250_000
	if testing.Short() {
		most = 50_000
	}
	compared := 0
	for _, s := range scenarios {
		merged := s.explore(enough)
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
		if all.States <= all.Merged {
			t.Errorf("%s: none of %d states were kept apart", s.name, all.States)
		}
		if merged.States != all.Merged {
			t.Errorf("%s: %d states, and %d when each of %d is gone on from", s.name, merged.States, all.Merged, all.States)
		}
		compared++
	}
	if compared < 8 {
		t.Errorf("%d scenarios were small enough", compared)
	}
}
