//go:build !poolswapsched && (!linux || !amd64 || purego || race)

package seam

// CanCountPlain says that this build may not count with plain increments.
const CanCountPlain = false

// RegisterMembarrier returns ErrNoMembarrier.
func RegisterMembarrier() error { return ErrNoMembarrier }

// Membarrier returns ErrNoMembarrier.
func Membarrier() error { return ErrNoMembarrier }
