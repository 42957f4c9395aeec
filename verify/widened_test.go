//go:build poolswapsched

package verify_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// widened says whether widen does anything.
const widened = true

// widen puts processors behind the protocol on which every window between two
// of its steps is wide, and plain stores wait, until the test ends.
func widen(t testing.TB) {
	machine := jitter.New(6)
	seam.Install(machine)
	t.Cleanup(func() {
		machine.Wait()
		seam.Install(nil)
	})
}
