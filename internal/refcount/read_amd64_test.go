//go:build linux && amd64 && !purego && !race && !poolswapsched && !poolswapdebug

package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/buildflag"
)

// TestThisVersionOfGoIsReadThroughTheAssembly fails for a version of Go that
// keeps the number of the P elsewhere: reads go through the methods there, slower
// but correct. Look at runtime.procPin in a program built with that version:
//
//	go tool objdump -s '^runtime\.procPin$' program
//
// If it is the five instructions that seam/procid_amd64.go describes, with other
// offsets, change gM and mP, or choose them by build tag (go1.N) if the oldest
// supported version has the former ones. If it is other code, teach
// seam/procid_amd64.go to read it, with its test, and check that its claims still
// hold: R14 holds g, and a goroutine is not preempted inside an assembly function
// that is NOSPLIT. Then run make race purego sched mutants, and compare
// go test -bench ReadRatio . before and after.
func TestThisVersionOfGoIsReadThroughTheAssembly(t *testing.T) {
	if !buildflag.Optimized() {
		t.Skip("the runtime is built without optimization, so reads go through the methods")
	}
	if !refcount.UsesAsm() {
		t.Fatal("the assembly is not in use: it does not find the P in this version of Go; see gM and mP")
	}
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
