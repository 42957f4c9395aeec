//go:build linux && amd64 && !purego && !race && !poolswapsched

package refcount

// The offsets that the assembly uses, and whether it uses others.
const (
	GM = gM
	MP = mP
)

// AsmFinds is asmFinds.
func AsmFinds(m, p uintptr) bool { return asmFinds(m, p) }
