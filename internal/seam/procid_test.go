//go:build linux && amd64 && !purego && !race && !poolswapsched

package seam_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/buildflag"
)

// procPin is code that ParseProcPin accepts, with 0x30 as the offset of the
// thread and 0xd0 as the offset of the P.
const procPin = "\x49\x8b\x4e\x30" + "\xff\x81\x08\x01\x00\x00" + "\x48\x8b\x89\xd0\x00\x00\x00" + "\x48\x63\x01" + "\xc3"

func TestProcPinIsParsed(t *testing.T) {
	if m, p := seam.ParseProcPin((*[21]byte)([]byte(procPin))); m != 0x30 || p != 0xd0 {
		t.Errorf("found offsets %#x and %#x, want 0x30 and 0xd0", m, p)
	}
	if !buildflag.Optimized() {
		t.Skip("the runtime is built without optimization, so procPin looks different")
	}
	if m, p := seam.ProcIDOffsets(); m == 0 || p == 0 {
		t.Error("procPin of this version of Go is not parsed: reads are slower than they could be")
	}
}

// TestOtherCodeIsNotParsed changes one byte at a time, except in the offsets.
func TestOtherCodeIsNotParsed(t *testing.T) {
	offsets := map[int]bool{3: true}
	for i := range 4 {
		offsets[6+i], offsets[13+i] = true, true
	}
	for i := range procPin {
		if offsets[i] {
			continue
		}
		code := [21]byte([]byte(procPin))
		code[i] ^= 1
		if m, p := seam.ParseProcPin(&code); m != 0 || p != 0 {
			t.Errorf("with byte %d changed the offsets are %#x and %#x, want none", i, m, p)
		}
	}
	negative := [21]byte([]byte(procPin))
	negative[3] = 0x80
	if m, p := seam.ParseProcPin(&negative); m != 0 || p != 0 {
		t.Errorf("with a negative offset: %#x and %#x, want none", m, p)
	}
}
