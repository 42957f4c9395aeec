//go:build poolswapsched

package refcount_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// TestStressWithWindowsWidened runs workers of every kind, a pause between any two steps
// of the protocol, so that other goroutines can interleave, and with plain
// stores that stay in the store buffer as long as they may.
func TestStressWithWindowsWidened(t *testing.T) {
	for _, portable := range []bool{false, true} {
		name := "asymmetric counters"
		if portable {
			name = "portable counters"
		}
		t.Run(name, func(t *testing.T) {
			machine := jitter.New(6)
			seam.Install(machine)
			t.Cleanup(func() {
				machine.Wait()
				seam.Install(nil)
			})
			s := newStress(t, poolswap.Options[canary]{Portable: portable})
			s.run(stressDuration(t), bulk{})
			if !t.Failed() {
				s.settle()
			}
		})
	}
}

// yielder is a Machine that sometimes yields where Acquire counts, between the
// load of a candidate and its re-validation, so that validations fail often. It
// does not order goroutines beyond the order of the code, so the race detector
// finds the same races as without it. It is for the portable counting mode: it
// has no store buffers.
type yielder struct {
	started sync.WaitGroup
	waiting sync.Mutex // held while a condition of Await is tested
}

const (
	yielderStripes = 3
	yielderOdds    = 128 // counts for one yield, on average
)

var _ seam.Machine = (*yielder)(nil)

func (y *yielder) Step(op seam.Op, _ unsafe.Pointer) {
	if op == seam.OpInc && rand.Uint32N(yielderOdds) == 0 {
		runtime.Gosched()
	}
}

func (y *yielder) Lock(m *seam.Mutex) {
	for !atomic.CompareAndSwapUint64(&m.Held, 0, 1) {
		runtime.Gosched()
	}
}

func (y *yielder) Unlock(m *seam.Mutex) { atomic.StoreUint64(&m.Held, 0) }

func (y *yielder) Await(until func() bool, then func(), _ ...unsafe.Pointer) {
	for {
		y.waiting.Lock()
		if until() {
			then()
			y.waiting.Unlock()
			return
		}
		y.waiting.Unlock()
		runtime.Gosched()
	}
}

func (y *yielder) Made(unsafe.Pointer)            {}
func (y *yielder) Observe(unsafe.Pointer, uint64) {}
func (y *yielder) IncPlain(c *seam.Count)         { c.Raw().Add(1) }
func (y *yielder) ReadCount(c *seam.Count) uint64 { return c.Raw().Load() }
func (y *yielder) Pin() int                       { return rand.IntN(yielderStripes + 1) } // the last number counts in the overflow
func (y *yielder) Unpin()                         {}
func (y *yielder) Fence()                         {}
func (y *yielder) StopTheWorld()                  {} // the methods need none
func (y *yielder) Membarrier() error              { return nil }
func (y *yielder) Go(f func())                    { y.started.Go(f) }
func (y *yielder) Stripes() int                   { return yielderStripes }

// TestStressWithYields is TestStressInBulk with readers that yield between
// loading a candidate and re-validating it. The publishers publish meanwhile, so
// validations fail far more often than in the other tests.
func TestStressWithYields(t *testing.T) {
	machine := new(yielder)
	seam.Install(machine)
	t.Cleanup(func() {
		machine.started.Wait()
		seam.Install(nil)
	})
	s := newStress(t, poolswap.Options[canary]{Portable: true})
	s.runBulk(bulkSize(t, bulk{readTurn: 1 << 10, publishTurn: 1, only: true}, 1_000_000, 1_000))
}
