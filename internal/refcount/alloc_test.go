//go:build !race && !poolswapsched

package refcount_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestNothingAllocatesWhereAReaderDrains: once the runtime has a
// goroutine to reuse, the sweeper is started without an allocation. With
// poolswapsched the seam allocates when it starts one.
func TestNothingAllocatesWhereAReaderDrains(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		noAllocs := func(t *testing.T, fn func()) {
			t.Helper()
			for range 10 { // these fill the free lists
				fn()
			}
			if allocs := testing.AllocsPerRun(1000, fn); allocs != 0 {
				t.Errorf("%v allocations", allocs)
			}
		}
		t.Run("a cycle that a reader drains and the sweeper finishes", func(t *testing.T) {
			before := pool.Stats()
			noAllocs(t, func() {
				old := c.Acquire()
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				c.Release(old)
				for poolOf(pool).Clean() == 0 {
					runtime.Gosched()
				}
			})
			if after := pool.Stats(); after.Reads.SlowChecks-before.Reads.SlowChecks < 1000 {
				t.Errorf("readers drained %d objects", after.Reads.SlowChecks-before.Reads.SlowChecks)
			}
		})
		t.Run("a cycle that a Reader's Load drains", func(t *testing.T) {
			r := c.NewReader()
			defer r.Close()
			noAllocs(t, func() {
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				r.Load()
				for poolOf(pool).Clean() == 0 {
					runtime.Gosched()
				}
			})
		})
	})
}
