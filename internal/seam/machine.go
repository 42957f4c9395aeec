//go:build poolswapsched

package seam

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Op is the kind of a step.
type Op uint8

// The steps that a Machine sees.
const (
	OpLoad Op = iota
	OpStore
	OpSwap
	OpCompareAndSwap
	OpIncPlain
	OpAdd
	OpInc
	OpCount
	OpLock
	OpUnlock
	OpPin
	OpUnpin
	OpFence
	OpMembarrier
	OpGo
)

var opNames = [...]string{
	"load", "store", "swap", "compare-and-swap", "plain inc", "add", "inc", "read count",
	"lock", "unlock", "pin", "unpin", "fence", "membarrier", "go",
}

// String names the kind of step.
func (o Op) String() string { return opNames[o] }

// Machine stands behind the seam: it is told of every step before it is
// taken, on the goroutine that takes it, and may let others go first.
type Machine interface {
	// Step comes before a step on the word at addr that is not one of those
	// below. It is a full fence for the caller unless op is OpLoad.
	Step(op Op, addr unsafe.Pointer)
	// Observe comes after Step with what the step read: all that the caller
	// can learn from it. Without a Step it is of a word that is set once and
	// was set before: nobody could tell such a load from one at another time.
	Observe(addr unsafe.Pointer, value uint64)

	IncPlain(c *Count)
	ReadCount(c *Count) uint64
	Lock(m *Mutex)
	Unlock(m *Mutex)
	Pin() int
	Unpin()
	Fence()
	Membarrier() error
	Go(f func())
	Stripes() int
}

var (
	installed atomic.Pointer[Machine]

	// cleaning is locked while a Machine is installed, and by each cleanup. An
	// object that was made before may be collected now, and what its cleanup
	// does would be steps of nobody that the Machine knows.
	cleaning sync.Mutex
)

// Install puts m behind the seam, or with nil takes away what is there. It is
// called while no protocol runs.
func Install(m Machine) {
	if m == nil {
		if installed.Swap(nil) != nil {
			cleaning.Unlock()
		}
		return
	}
	cleaning.Lock()
	installed.Store(&m)
}

func machine() Machine {
	if m := installed.Load(); m != nil {
		return *m
	}
	return nil
}

// step announces a step and returns the Machine that was told, or nil.
func step(op Op, addr unsafe.Pointer) Machine {
	m := machine()
	if m != nil {
		m.Step(op, addr)
	}
	return m
}

func observe(m Machine, addr unsafe.Pointer, value uint64) {
	if m != nil {
		m.Observe(addr, value)
	}
}

// Go starts f.
func Go(f func()) {
	if m := machine(); m != nil {
		m.Go(f)
		return
	}
	go f()
}

// Fence is a full memory fence.
func Fence() {
	if m := machine(); m != nil {
		m.Fence()
	}
}

// Pin chooses a processor.
func Pin() int {
	if m := machine(); m != nil {
		return m.Pin()
	}
	return 0
}

// Unpin ends what Pin began.
func Unpin() {
	if m := machine(); m != nil {
		m.Unpin()
	}
}

// Stripe maps what Pin returned onto owned stripes and the overflow.
func Stripe(k, owned int) int { return min(k, owned) }

// Stripes returns how many stripes are wanted.
func Stripes() int {
	if m := machine(); m != nil {
		return m.Stripes()
	}
	return 1
}

// AddCleanup does nothing under a Machine, which makes and drops objects by
// the million; else it is runtime.AddCleanup, of what waits while there is a
// Machine.
func AddCleanup[T, A any](ptr *T, cleanup func(A), arg A) {
	if machine() != nil {
		return
	}
	runtime.AddCleanup(ptr, func(arg A) {
		cleaning.Lock()
		defer cleaning.Unlock()
		cleanup(arg)
	}, arg)
}

// CanCountPlain is true: the Machine keeps the store buffers.
const CanCountPlain = true

// BuildTag names the build tag that keeps this build from the assembly.
const BuildTag = "poolswapsched"

// RegisterMembarrier always succeeds.
func RegisterMembarrier() error { return nil }

// Membarrier makes all processors fence.
func Membarrier() error {
	if m := machine(); m != nil {
		return m.Membarrier()
	}
	return nil
}
