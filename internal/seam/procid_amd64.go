//go:build linux && amd64 && !purego && !race && !poolswapsched

package seam

import "unsafe"

// ProcIDOffsets returns the offsets by which assembly finds the number of the P
// that it runs on, without a call of the runtime. R14 points to the goroutine's
// descriptor, the word at offset m in it points to the thread's descriptor, the
// word at offset p in that points to the P's, and the first 32 bits there are
// the number.
//
// The offsets differ between versions of Go, so they are read from the machine
// code of procPin, which cannot be wrong about them. If that is not exactly the
// five instructions that parseProcPin knows, the result is 0, 0, which is no
// valid offset of either.
func ProcIDOffsets() (m, p uintptr) {
	// A function value points to a word that holds the entry address.
	pin := Pin
	return parseProcPin((*[21]byte)(**(**unsafe.Pointer)(unsafe.Pointer(&pin))))
}

// parseProcPin accepts this code and nothing else:
//
//	49 8b 4e MM             MOVQ MM(R14), CX        g.m
//	ff 81 LL LL LL LL       INCL LL(CX)             m.locks++
//	48 8b 89 PP PP PP PP    MOVQ PP(CX), CX         m.p
//	48 63 01                MOVLQSX (CX), AX        p.id
//	c3                      RET
func parseProcPin(code *[21]byte) (m, p uintptr) {
	shape := [...]struct {
		at    int
		bytes string
	}{
		{0, "\x49\x8b\x4e"},
		{4, "\xff\x81"},
		{10, "\x48\x8b\x89"},
		{17, "\x48\x63\x01\xc3"},
	}
	for _, part := range shape {
		if string(code[part.at:part.at+len(part.bytes)]) != part.bytes {
			return 0, 0
		}
	}
	if code[3] >= 0x80 {
		return 0, 0 // a negative offset
	}
	p = uintptr(code[13]) | uintptr(code[14])<<8 | uintptr(code[15])<<16 | uintptr(code[16])<<24
	return uintptr(code[3]), p
}
