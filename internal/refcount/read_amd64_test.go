//go:build linux && amd64 && !purego && !race && !poolswapsched

package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/buildflag"
)

// TestThisVersionOfGoIsReadThroughTheAssembly: a version with other offsets is
// read through the methods, as right and slower, until gM and mP follow.
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
