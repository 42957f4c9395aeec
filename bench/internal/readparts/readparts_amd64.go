//go:build linux && !race && !purego

package readparts

import (
	"runtime"
	"unsafe"
)

// All returns the parts, each with those before it.
func All() []Part {
	memory := make([]line, runtime.GOMAXPROCS(0))
	at := unsafe.Pointer(&memory[0])
	return []Part{
		{"EmptyCalls", func(n int) { loopEmpty(at, n) }},
		{"FindProcessor", func(n int) { loopFind(at, n) }},
		{"CountPlainly", func(n int) { loopPlain(at, n) }},
		{"CountLocked", func(n int) { loopLocked(at, n) }},
	}
}

// line has two counters of a processor, on cache lines of its own.
type line struct {
	acquired, released uint64
	_                  [112]byte
}

// The functions have the arguments and results of Acquire and Release. The empty
// ones return at once; the others find the number of the processor as poolswap
// does, and the last two add one to a counter of that processor.

func emptyAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
func emptyRelease(memory, obj unsafe.Pointer)
func findAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
func findRelease(memory, obj unsafe.Pointer)
func plainAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
func plainRelease(memory, obj unsafe.Pointer)
func lockedAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
func lockedRelease(memory, obj unsafe.Pointer)

// A loop per pair, because a call through a function value costs more.

func loopEmpty(memory unsafe.Pointer, n int) {
	for range n {
		_, obj := emptyAcquire(memory)
		emptyRelease(memory, obj)
	}
}

func loopFind(memory unsafe.Pointer, n int) {
	for range n {
		_, obj := findAcquire(memory)
		findRelease(memory, obj)
	}
}

func loopPlain(memory unsafe.Pointer, n int) {
	for range n {
		_, obj := plainAcquire(memory)
		plainRelease(memory, obj)
	}
}

func loopLocked(memory unsafe.Pointer, n int) {
	for range n {
		_, obj := lockedAcquire(memory)
		lockedRelease(memory, obj)
	}
}
