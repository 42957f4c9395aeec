//go:build poolswapsched

package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// TestStressWithWindowsWidened is TestStress where every window between two
// steps of the protocol is wide enough for others to pass, and where plain
// stores wait as long as they may.
func TestStressWithWindowsWidened(t *testing.T) {
	for _, portable := range []bool{false, true} {
		name := "counting the asymmetric way"
		if portable {
			name = "counting the portable way"
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
