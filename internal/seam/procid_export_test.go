//go:build linux && amd64 && !purego && !race && !poolswapsched

package seam

// ParseProcPin is what ProcIDOffsets does with the code of procPin.
func ParseProcPin(code *[21]byte) (m, p uintptr) { return parseProcPin(code) }
