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
	"github.com/poolswap/poolswap/internal/seam"
)

// yielder is a Machine that lets others go first, now and then, between the
// load of a candidate and its re-validation, where Acquire counts; so that
// validations fail often. It adds no order between goroutines that the code
// does not bring about itself, so the race detector sees what it would see
// without it. It is for counting the portable way: it has no store buffers.
type yielder struct{ started sync.WaitGroup }

const (
	yielderStripes = 3
	yielderOdds    = 128 // counts for one that gives way
)

var _ seam.Machine = (*yielder)(nil)

func (d *yielder) Step(op seam.Op, _ unsafe.Pointer) {
	if op == seam.OpInc && rand.Uint32N(yielderOdds) == 0 {
		runtime.Gosched()
	}
}

func (d *yielder) Lock(m *seam.Mutex) {
	for !atomic.CompareAndSwapUint64(&m.Held, 0, 1) {
		runtime.Gosched()
	}
}

func (d *yielder) Unlock(m *seam.Mutex) { atomic.StoreUint64(&m.Held, 0) }

func (d *yielder) Observe(unsafe.Pointer, uint64) {}
func (d *yielder) IncPlain(c *seam.Count)         { c.Raw().Add(1) }
func (d *yielder) ReadCount(c *seam.Count) uint64 { return c.Raw().Load() }
func (d *yielder) Pin() int                       { return rand.IntN(yielderStripes + 1) } // the last one in the overflow
func (d *yielder) Unpin()                         {}
func (d *yielder) Fence()                         {}
func (d *yielder) Membarrier() error              { return nil }
func (d *yielder) Go(f func())                    { d.started.Go(f) }
func (d *yielder) Stripes() int                   { return yielderStripes }

// TestStressWithYields is TestStressInBulk where readers give way between
// loading a candidate and re-validating it. Each time they do, the publishers
// publish, so it has as many failed validations as any other has in an hour.
func TestStressWithYields(t *testing.T) {
	machine := new(yielder)
	seam.Install(machine)
	t.Cleanup(func() {
		machine.started.Wait()
		seam.Install(nil)
	})
	s := newStress(t, poolswap.Options[canary]{Portable: true})
	s.inBulk(ask(t, bulk{sprint: 1 << 10, push: 1, alone: true}, 1_000_000, 1_000))
}
