//go:build !poolswapsched

package seam

import "runtime"

// StopTheWorld returns when each goroutine that runs now has come to a point at which
// the runtime may stop it: not inside a function of assembly, and not between Pin and
// Unpin. What the caller stored before, each of them sees after that point.
// ReadMemStats stops the world; what it reads does not matter.
func StopTheWorld() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
