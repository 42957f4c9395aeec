//go:build !poolswapsched && purego

package seam

import (
	"runtime"
	"unsafe"
)

// BuildTag is the build tag that excludes the assembly from this build.
const BuildTag = "purego"

// Pin returns a hash of the address of the caller's stack. Goroutines that run
// at the same time tend to get different numbers, but may get the same one, so
// callers must count atomically.
//
// Stacks are at least 2 KiB and aligned to their size. The multiplication
// (Knuth's multiplicative hash, 2^64 divided by the golden ratio) spreads
// neighbours over the upper 32 bits, which are the result.
func Pin() int {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	return int(uint32((page * 0x9e3779b97f4a7c15) >> 32))
}

// Unpin does nothing, because Pin holds nothing.
func Unpin() {}

// Stripe maps a result of Pin to one of owned stripes, evenly.
func Stripe(k, owned int) int {
	return int(uint64(uint32(k)) * uint64(owned) >> 32)
}

// Stripes returns how many counter stripes an object gets: four for each
// processor, so that two goroutines seldom share one.
func Stripes() int { return 4 * max(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
