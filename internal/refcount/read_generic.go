//go:build (!linux || !amd64 || purego || race) && !poolswapsched

package refcount

import (
	"runtime"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Acquire and Release are the methods: this build has no assembly.

const useAsm = false

// Acquire returns the user's current object, counted, or nil. The first result
// is nil.
func Acquire(s *Slot) (_ *Object, obj unsafe.Pointer) { return nil, s.acquire() }

// Release gives back one reference to the user's object obj.
func Release(s *Slot, obj unsafe.Pointer) { s.pool.Release(obj, s.offset) }

// UsesAsm reports whether new slots are read through assembly.
func UsesAsm() bool { return useAsm }

// DisableAsm does nothing in this build.
func DisableAsm() (restore func()) { return func() {} }

// ReadPath says which code reads run in this process, and why.
func ReadPath() string {
	switch {
	case debugBuild:
		return "methods (build tag poolswapdebug)"
	case seam.BuildTag != "":
		return "methods (build tag " + seam.BuildTag + ")"
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		return "methods (no assembly for " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	default: // of the build constraints above one is left
		return "methods (race detector)"
	}
}
