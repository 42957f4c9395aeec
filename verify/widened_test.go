//go:build poolswapsched

package verify_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// widened reports whether this is the widened build.
const widened = true

// widen installs the machine of package jitter until the test ends: goroutines
// pause between the steps of the protocol, and plain stores are delayed.
func widen(t testing.TB) {
	machine := jitter.New(6)
	seam.Install(machine)
	t.Cleanup(func() {
		machine.Wait()
		seam.Install(nil)
	})
}
