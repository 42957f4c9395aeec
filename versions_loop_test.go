package poolswap_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
)

// TestTheVersionsLoopYieldsEachVersionOnce, also one that is published between
// its Wait and its Acquire.
func TestTheVersionsLoopYieldsEachVersionOnce(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	defer keepUpdating(c)()
	last, seen := uint64(0), 0
	for v := range c.Versions(t.Context()) {
		if v <= last {
			t.Fatalf("version %d after %d", v, last)
		}
		last = v
		if seen++; seen == 50_000 {
			return
		}
	}
}

// keepUpdating updates c from another goroutine until stop is called.
func keepUpdating(c *poolswap.Container[table, *table]) (stop func()) {
	ended := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				c.Update(c.GetNew())
				runtime.Gosched() // with one P each version would cost a time slice
			}
		}
	})
	return func() {
		close(ended)
		writer.Wait()
	}
}

// TestVersionOfAnObjectThatTheFactoryBringsBack: it was discarded, so what is in
// it is not what was current.
func TestVersionOfAnObjectThatTheFactoryBringsBack(t *testing.T) {
	only := new(table)
	pool := poolswap.NewPoolWithOptions(func() *table { return only }, nil, poolswap.Options[table]{Spares: poolswap.NoSpares})
	c := poolswap.NewEmptyContainer(pool)
	publish(t, c, set(1))
	c.Update(nil) // discards it
	publish(t, c, func(next, _ *table) error {
		if v := c.VersionOf(next); next != only || v != 0 {
			t.Errorf("%p has version %d, want 0 of %p", next, v, only)
		}
		return nil
	})
}
