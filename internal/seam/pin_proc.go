//go:build !poolswapsched && !purego

package seam

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// BuildTag is empty: no build tag excludes the assembly from this build.
const BuildTag = ""

// Pin disables preemption of the calling goroutine and returns the number of
// the P that it runs on. Until Unpin no other goroutine runs on that P. The
// caller must not block, allocate, panic or grow its stack without bound before
// Unpin. A panic while pinned ends the process.
//
// The runtime keeps procPin and procUnpin reachable for linkname because
// widely used packages need them (go.dev/issue/67401); sync.Pool is built on
// the same two functions. The declared signatures are theirs.
//
//go:linkname Pin runtime.procPin
func Pin() int

// Unpin enables preemption again.
//
//go:linkname Unpin runtime.procUnpin
func Unpin()

// Stripe maps a result of Pin to one of owned stripes or to the overflow behind
// them, which counts for every P that was added later.
func Stripe(k, owned int) int { return min(k, owned) }

// Stripes returns how many counter stripes an object gets: one for each P. If
// the CPU limit of the process is raised, GOMAXPROCS follows it up to the
// number of CPUs, so there is at least one for each CPU from the start.
func Stripes() int { return max(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
