//go:build !purego && !poolswapsched

package seam_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

func TestPinReturnsTheNumberOfAP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for range 1000 {
			k := seam.Pin()
			seam.Unpin()
			if k < 0 || k >= procs {
				t.Fatalf("pinned to P %d of %d", k, procs)
			}
		}
	}
}

func TestEachPHasItsOwnStripe(t *testing.T) {
	for k := range 4 {
		if got := seam.Stripe(k, 4); got != k {
			t.Errorf("P %d counts on stripe %d", k, got)
		}
	}
	if got := seam.Stripe(9, 4); got != 4 {
		t.Errorf("P 9 of 4 counts on stripe %d, want the overflow, 4", got)
	}
}
