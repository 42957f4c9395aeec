//go:build !poolswapsched && (!linux || !amd64 || purego || race)

package seam

// CanCountPlain says whether this build may count with plain increments: it
// may not.
const CanCountPlain = false

// RegisterMembarrier reports ErrNoMembarrier.
func RegisterMembarrier() error { return ErrNoMembarrier }

// Membarrier reports ErrNoMembarrier.
func Membarrier() error { return ErrNoMembarrier }
