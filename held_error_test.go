package poolswap_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// TestHeldErrorOfSeveralObjects: Longest is that of the first replaced, whatever
// the order in which the objects came into being, and Versions ascend.
func TestHeldErrorOfSeveralObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{}) // object a, version 1
		publish(t, c, set(1))                      // object b, version 2; a is a spare
		publish(t, c, set(2))                      // object a, version 3
		var held []*table
		for range 3 { // a (3), then b (4), then a new one (5) are replaced, a second apart
			held = append(held, c.Acquire())
			publish(t, c, set(3))
			time.Sleep(time.Second)
		}
		e := wantHeld(t, pool.Drain(withTimeout(t, time.Second)), context.DeadlineExceeded)
		if e.Objects != 3 || e.References != 3 || e.Longest != 4*time.Second || !slices.Equal(e.Versions, []uint64{3, 4, 5}) {
			t.Errorf("%+v", e)
		}
		c.Release(held[0]) // the one that was made first
		held[0] = c.Acquire()
		publish(t, c, set(4)) // it is back last, with a later version
		e = wantHeld(t, pool.Drain(withTimeout(t, time.Second)), context.DeadlineExceeded)
		if e.Longest != 4*time.Second || !slices.IsSorted(e.Versions) {
			t.Errorf("%+v", e)
		}
		for _, obj := range held {
			c.Release(obj)
		}
	})
}

// TestHeldErrorCountsWhatAwaitsResetOrDiscard, in the hook and before it.
func TestHeldErrorCountsWhatAwaitsResetOrDiscard(t *testing.T) {
	for _, inDiscard := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			slow := func(*table) { time.Sleep(time.Hour) }
			pool := poolswap.NewPoolWithOptions(
				func() *table { return new(table) },
				func(obj *table) bool {
					if !inDiscard {
						slow(obj)
					}
					return false
				},
				poolswap.Options[table]{Discard: func(obj *table) {
					if inDiscard {
						slow(obj)
					}
				}})
			c := poolswap.NewContainer(pool, &table{})
			var held []*table
			for range 2 {
				held = append(held, c.Acquire())
				c.Update(&table{})
			}
			for _, obj := range held {
				c.Release(obj) // one is in the hook, one awaits it
			}
			synctest.Wait()
			e := wantHeld(t, pool.Drain(withTimeout(t, time.Second)), context.DeadlineExceeded)
			if e.Resetting != 2 || e.Objects != 0 || e.Private != 0 {
				t.Errorf("in Discard: %v: %+v", inDiscard, e)
			}
			if err := pool.Drain(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWaitsWithACtxThatHasEnded: it fails although there is a version to return.
func TestWaitsWithACtxThatHasEnded(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := c.Wait(ended, 0); v != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returned %d, %v", v, err)
	}
}
