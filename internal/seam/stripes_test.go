//go:build !poolswapsched

package seam_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// Under poolswapsched the Machine decides how many stripes there are.
//
// More stripes than Ps cost memory and time: a writer sums all of them. Where a
// hash chooses the stripe, there are four for each.
func TestThereIsAStripeForEachProcessor(t *testing.T) {
	each := 1
	if seam.BuildTag != "" {
		each = 4
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4 * runtime.NumCPU()} {
		runtime.GOMAXPROCS(procs)
		if got, want := seam.Stripes(), each*max(procs, runtime.NumCPU()); got != want {
			t.Errorf("%d stripes with GOMAXPROCS %d and %d CPUs, want %d", got, procs, runtime.NumCPU(), want)
		}
	}
}
