//go:build !poolswapsched && !purego

package seam

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// BuildTag would name a build tag that keeps this build from the assembly.
const BuildTag = ""

// Pin forbids that the calling goroutine is preempted and returns the number
// of the P it runs on. Until Unpin no other goroutine runs on that P. The caller must
// not block, allocate, panic or grow its stack without bound in between; a
// panic while pinned ends the process.
//
// The runtime keeps procPin and procUnpin reachable for linkname because
// widely used packages need them (go.dev/issue/67401); sync.Pool is built on
// the same two functions. The declared signatures are theirs.
//
//go:linkname Pin runtime.procPin
func Pin() int

// Unpin ends what Pin began.
//
//go:linkname Unpin runtime.procUnpin
func Unpin()

// Stripe maps what Pin returned onto owned stripes and the overflow behind
// them, which counts for every P that came into being later.
func Stripe(k, owned int) int { return min(k, owned) }

// Stripes returns how many counter stripes an object wants: one for each P, for
// P numbers are exact. GOMAXPROCS follows the CPU limit of a container up to
// the number of CPUs, so as many are made from the start.
func Stripes() int { return max(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
