//go:build linux && amd64 && !purego && !race && !poolswapsched

package seam

// ParseProcPin is parseProcPin.
func ParseProcPin(code *[21]byte) (m, p uintptr) { return parseProcPin(code) }
