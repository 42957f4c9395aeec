//go:build !poolswapsched && purego

package seam

import (
	"runtime"
	"unsafe"
)

// BuildTag names the build tag that keeps this build from the assembly.
const BuildTag = "purego"

// Pin returns a number that tends to differ between goroutines that run at the
// same time: it is taken from the address of the caller's stack. It promises
// nothing, so what is counted under it must be counted atomically.
//
// Stacks are at least 2 KiB and aligned to their size; the multiplication
// (Knuth's multiplicative hash, 2^64 divided by the golden ratio) spreads
// neighbours over the upper 32 bits, which are the result.
func Pin() int {
	var here byte
	page := uint64(uintptr(unsafe.Pointer(&here))) >> 11
	return int(uint32((page * 0x9e3779b97f4a7c15) >> 32))
}

// Unpin does nothing: Pin held nothing.
func Unpin() {}

// Stripe maps what Pin returned onto one of owned stripes, evenly.
func Stripe(k, owned int) int {
	return int(uint64(uint32(k)) * uint64(owned) >> 32)
}

// Stripes returns how many counter stripes an object wants: four for each
// processor, so that two goroutines whose stacks hash alike are rare.
func Stripes() int { return 4 * max(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
