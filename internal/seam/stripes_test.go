//go:build !poolswapsched

package seam_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// With the build tag poolswapsched a Machine says how many stripes there are,
// and without one there is the overflow for everybody.
func TestThereIsAStripeForEachProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4 * runtime.NumCPU()} {
		runtime.GOMAXPROCS(procs)
		if got := seam.Stripes(); got < procs || got < runtime.NumCPU() {
			t.Errorf("%d stripes for %d of %d processors", got, procs, runtime.NumCPU())
		}
	}
}
