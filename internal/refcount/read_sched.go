//go:build poolswapsched

package refcount

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Acquire and Release are the methods, or the assembly, taken step by step by an
// interpreter that a test installed.

// Stepper takes the steps of the assembly.
type Stepper interface {
	Acquire(s *Slot) (obj unsafe.Pointer)
	Release(s *Slot, obj unsafe.Pointer)
}

var (
	stepper Stepper // nil: the methods
	useAsm  bool    // whether new slots say that they are read through assembly
)

// StepThrough has reads of slots made from now on go through s. No other
// goroutine may read meanwhile.
func StepThrough(s Stepper) (restore func()) {
	stepper, useAsm = s, true
	return func() { stepper, useAsm = nil, false }
}

// Acquire returns the user's current object, counted, or nil. The first result
// is nil.
func Acquire(s *Slot) (_ *Object, obj unsafe.Pointer) {
	if stepper != nil {
		return nil, stepper.Acquire(s)
	}
	return nil, s.acquire()
}

// Release gives back one reference to the user's object obj.
func Release(s *Slot, obj unsafe.Pointer) {
	if stepper != nil {
		stepper.Release(s, obj)
		return
	}
	s.pool.Release(obj, s.offset)
}

// UsesAsm reports whether new slots are read through assembly.
func UsesAsm() bool { return useAsm }

// DisableAsm does nothing in this build.
func DisableAsm() (restore func()) { return func() {} }

// ReadPath says which code reads run in this process, and why.
func ReadPath() string { return "methods (build tag " + seam.BuildTag + ")" }
