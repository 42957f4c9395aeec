//go:build poolswapsched

package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// TestStressWithWindowsWidened is TestStress with a pause between any two steps
// of the protocol, so that other goroutines can interleave, and with plain
// stores that stay in the store buffer as long as they may.
func TestStressWithWindowsWidened(t *testing.T) {
	for _, portable := range []bool{false, true} {
		name := "asymmetric counters"
		if portable {
			name = "portable counters"
		}
		t.Run(name, func(t *testing.T) {
			machine := jitter.New(6)
			seam.Install(machine)
			t.Cleanup(func() {
				machine.Wait()
				seam.Install(nil)
			})
			s := newStress(t, poolswap.Options[canary]{Portable: portable})
			s.run(stressDuration(t), bulk{})
			if !t.Failed() {
				s.settle()
			}
		})
	}
}
