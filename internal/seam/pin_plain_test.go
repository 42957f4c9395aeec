//go:build !purego && !race && !poolswapsched

package seam_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// TestAPinnedGoroutineRunsAloneOnItsP increments plain words, one for each P,
// and loses no increment.
func TestAPinnedGoroutineRunsAloneOnItsP(t *testing.T) {
	const goroutines, times = 8, 100_000
	var words [64]struct {
		n int
		_ [120]byte
	}
	procs := min(runtime.GOMAXPROCS(0), len(words))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range times {
				k := seam.Pin()
				words[k].n++
				seam.Unpin()
			}
		})
	}
	all.Wait()
	sum := 0
	for i := range words {
		sum += words[i].n
	}
	if sum != goroutines*times {
		t.Errorf("counted %d, want %d", sum, goroutines*times)
	}
}
