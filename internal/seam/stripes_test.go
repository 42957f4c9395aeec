//go:build !poolswapsched

package seam_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// Under poolswapsched the Machine decides how many stripes there are.
func TestThereIsAStripeForEachProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4 * runtime.NumCPU()} {
		runtime.GOMAXPROCS(procs)
		if got := seam.Stripes(); got < procs || got < runtime.NumCPU() {
			t.Errorf("%d stripes with GOMAXPROCS %d and %d CPUs", got, procs, runtime.NumCPU())
		}
	}
}
