package stripe

import (
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap/internal/seam"
)

// membarrier is the process's one source of heavy fences.
var membarrier struct {
	probe  sync.Once
	usable atomic.Bool // set by the probe, cleared for good by the first failure

	// fail, when set by FailMembarrier, is called in place of the kernel.
	fail atomic.Pointer[func() error]
}

// Asymmetric reports whether new Counters can be asymmetric. The first call
// asks the kernel; see seam.RegisterMembarrier for the cost.
func Asymmetric() bool {
	if !seam.CanCountPlain {
		return false
	}
	membarrier.probe.Do(func() {
		membarrier.usable.Store(seam.RegisterMembarrier() == nil)
	})
	return membarrier.usable.Load()
}

// HeavyFence makes every increment before it visible. Every increment after it
// comes from a goroutine that sees the stores of the caller before the call.
// Portable counters need nothing for that: their increments are sequentially
// consistent.
//
// An error means that nothing is known about increments under way, now or
// later: the object must be left to the garbage collector. From then on new
// Counters are portable.
func (c *Counters) HeavyFence() error {
	if !c.CountsPlain() {
		return nil
	}
	fence := seam.Membarrier
	if fail := membarrier.fail.Load(); fail != nil {
		fence = *fail
	}
	if err := fence(); err != nil {
		membarrier.usable.Store(false)
		return err
	}
	return nil
}

// FailMembarrier is for tests: until restore is called, every heavy fence of
// plain Counters returns err, as under a seccomp filter that arrives late.
// restore brings back the answer of the first probe.
func FailMembarrier(err error) (restore func()) {
	was := Asymmetric()
	fail := func() error { return err }
	membarrier.fail.Store(&fail)
	return func() {
		membarrier.fail.Store(nil)
		membarrier.usable.Store(was)
	}
}
