//go:build linux && amd64 && !purego && !race && !poolswapsched

package refcount_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/buildflag"
)

// TestTheAssemblyCountsOnTheStripeOfItsP pins goroutines to their P, as the
// methods do, and checks on which stripe the assembly counts.
func TestTheAssemblyCountsOnTheStripeOfItsP(t *testing.T) {
	if !buildflag.Optimized() {
		t.Skip("the runtime is built without optimization, so reads go through the methods")
	}
	if !refcount.UsesAsm() {
		t.Fatal("the assembly is not in use: it does not find the P in this version of Go; see gM and mP")
	}
	c := newTableContainer(poolswap.Options[table]{})
	obj := c.Acquire()
	defer c.Release(obj)
	var wg sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for range 1000 {
				k := seam.Pin()
				beforeA, beforeR := objectOf(obj).CountsOf(k)
				same := c.Acquire()
				betweenA, betweenR := objectOf(obj).CountsOf(k)
				c.Release(same)
				afterA, afterR := objectOf(obj).CountsOf(k)
				seam.Unpin()
				if betweenA != beforeA+1 || betweenR != beforeR || afterA != beforeA+1 || afterR != beforeR+1 {
					t.Errorf("on P %d acquired went %d %d %d and released %d %d %d", k,
						beforeA, betweenA, afterA, beforeR, betweenR, afterR)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestOtherOffsetsDisableTheAssembly: with one wrong offset it would count on
// the stripe of another P.
func TestOtherOffsetsDisableTheAssembly(t *testing.T) {
	if !refcount.AsmFinds(refcount.GM, refcount.MP) {
		t.Error("the offsets of the assembly are refused")
	}
	for _, other := range [][2]uintptr{{0, 0}, {refcount.GM + 8, refcount.MP}, {refcount.GM, refcount.MP + 8}} {
		if refcount.AsmFinds(other[0], other[1]) {
			t.Errorf("offsets %d are accepted", other)
		}
	}
}
