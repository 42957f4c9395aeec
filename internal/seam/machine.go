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
	OpStopTheWorld
	OpGo
	OpWait
)

var opNames = [...]string{
	"load", "store", "swap", "compare-and-swap", "plain inc", "add", "inc", "read count",
	"lock", "unlock", "pin", "unpin", "fence", "membarrier", "stop the world", "go", "wait",
}

// String names the kind of step.
func (o Op) String() string { return opNames[o] }

// Machine implements the seam. It is called before every step, on the goroutine
// that takes the step, and may let other goroutines run first.
type Machine interface {
	// Step is called before a step on the word at addr that has no method of
	// its own below. It is a full fence for the caller unless op is OpLoad.
	Step(op Op, addr unsafe.Pointer)
	// Observe is called after the step with the value that it read, which is
	// all that the caller learns from it. There is no Step before the Observe
	// of a SetOnce that was set earlier: when such a load happens makes no
	// difference.
	Observe(addr unsafe.Pointer, value uint64)

	IncPlain(c *Count)
	ReadCount(c *Count) uint64
	Lock(m *Mutex)
	Unlock(m *Mutex)
	Pin() int
	Unpin()
	Fence()
	Membarrier() error
	// StopTheWorld waits until no other goroutine is pinned.
	StopTheWorld()
	Go(f func())
	Stripes() int

	// Await is a step that the goroutine takes once until returns true, and
	// then is part of it. until depends on the words alone, and then may write
	// the first.
	Await(until func() bool, then func(), words ...unsafe.Pointer)
	// Made is called with an object that the running goroutine made, so that
	// its address means the same in every run.
	Made(object unsafe.Pointer)
}

var (
	installed atomic.Pointer[Machine]

	// cleaning is locked while a Machine is installed, and by each cleanup. An
	// object that is older than the Machine may be collected now, and its
	// cleanup would take steps on a goroutine that the Machine does not know.
	cleaning sync.Mutex

	// outside counts the goroutines that Go started without a Machine.
	outside sync.WaitGroup
)

// Install makes m implement the seam, or with nil removes the Machine. It waits
// for what Go started without a Machine: its next step would be taken for one of
// m's. No other goroutine may use the package meanwhile.
func Install(m Machine) {
	if m == nil {
		if installed.Swap(nil) != nil {
			cleaning.Unlock()
		}
		return
	}
	cleaning.Lock() // first: a cleanup may call Go
	outside.Wait()
	installed.Store(&m)
}

func machine() Machine {
	if m := installed.Load(); m != nil {
		return *m
	}
	return nil
}

// step announces a step to the Machine and returns it, or nil if there is none.
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
	outside.Add(1)
	go func() {
		defer outside.Done()
		f()
	}()
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

// Unpin ends the effect of Pin.
func Unpin() {
	if m := machine(); m != nil {
		m.Unpin()
	}
}

// Stripe maps a result of Pin to one of owned stripes or the overflow.
func Stripe(k, owned int) int { return min(k, owned) }

// Stripes returns how many counter stripes an object gets.
func Stripes() int {
	if m := machine(); m != nil {
		return m.Stripes()
	}
	return 1
}

// AddCleanup does nothing under a Machine, which makes and drops objects by
// the million. Otherwise it is runtime.AddCleanup with a cleanup that waits
// while a Machine is installed.
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

// CanCountPlain is true: the Machine models the store buffers.
const CanCountPlain = true

// BuildTag is the build tag that excludes the assembly from this build.
const BuildTag = "poolswapsched"

// StopTheWorld waits until each goroutine is at a point between Unpin and Pin.
func StopTheWorld() {
	if m := machine(); m != nil {
		m.StopTheWorld()
	}
}

// RegisterMembarrier always succeeds.
func RegisterMembarrier() error { return nil }

// Membarrier makes every processor execute a fence.
func Membarrier() error {
	if m := machine(); m != nil {
		return m.Membarrier()
	}
	return nil
}
