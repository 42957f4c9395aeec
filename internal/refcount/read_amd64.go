//go:build linux && amd64 && !purego && !race && !poolswapsched

package refcount

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Acquire is Slot.acquire, and Release is Pool.Release, in assembly for the
// case that matters: the slot is not empty and nothing is being replaced. In
// every other case they continue in those methods: an acquire that has counted
// undoes that first, and a release that has counted goes on where (R4) ends.
// The labels are the same and so are the arguments.
//
// The assembly saves the pin. The runtime does not preempt a goroutine
// inside an assembly function: cooperative preemption happens in function
// prologues, and a NOSPLIT function has none; asynchronous preemption happens
// at safe points, and the runtime takes no instruction of assembly for one. So
// the P that the first instructions look up belongs to this goroutine until the
// last, and no word of the runtime need be written to make it so.
//
// That also makes plain increments possible: no other goroutine runs
// on this P in between, so none writes the stripe. The methods increment the
// same stripe atomically, pinned to the same P, so the two never meet in time.
// The order of loads and stores is the order of the instructions.
//
// The collector cannot scan the stack in between either, so pointers may live
// in registers unseen. The object that was counted on in vain outlives the function and
// goes into a result slot whose type is a pointer.

// Acquire returns the user's current object, counted, or nil. The first result
// is a spill slot for acquireFallback's argument.
func Acquire(s *Slot) (failed *Object, obj unsafe.Pointer)

// Release gives back one reference to the user's object obj.
func Release(s *Slot, obj unsafe.Pointer)

// useAsm tells whether this version of Go has these words at these offsets. If
// not, every read goes through the methods: slower, and as right. Each Slot
// says so in a word that the assembly reads.
var useAsm = asmFinds(seam.ProcIDOffsets()) && !debugBuild

// asmFinds reports whether these are the offsets that the assembly uses.
func asmFinds(m, p uintptr) bool { return m == gM && p == mP }

// UsesAsm reports whether new slots are read through the assembly.
func UsesAsm() bool { return useAsm }

// DisableAsm is for tests: slots made before restore is called are read
// through the methods.
func DisableAsm() (restore func()) {
	was := useAsm
	useAsm = false
	return func() { useAsm = was }
}

// ReadPath says which code reads run in this process, and why.
func ReadPath() string {
	if useAsm {
		return "assembly"
	}
	if debugBuild {
		return "methods (build tag poolswapdebug)"
	}
	return "methods (the assembly does not know this build of the Go runtime)"
}
