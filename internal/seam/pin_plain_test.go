//go:build !purego && !race && !poolswapsched

package seam_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// TestNobodyElseRunsProcIDOffsetsinned increments plain words, one for each
// processor, and loses none.
func TestNobodyElseRunsProcIDOffsetsinned(t *testing.T) {
	const people, times = 8, 100_000
	var words [64]struct {
		n int
		_ [120]byte
	}
	procs := min(runtime.GOMAXPROCS(0), len(words))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	var all sync.WaitGroup
	for range people {
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
	if sum != people*times {
		t.Errorf("counted %d of %d", sum, people*times)
	}
}
