package poolswap_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestDrainWaitsForReplacedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{})
		first := c.Version()
		held := c.Acquire()
		also := c.Retain(held)
		if err := pool.Drain(t.Context()); err != nil {
			t.Errorf("Drain while the held object is current: %v", err)
		}
		publish(t, c, set(1))
		later := c.Acquire() // replaced below, while Drain waits
		time.AfterFunc(time.Second, func() {
			publish(t, c, set(2))
			c.Release(held)
		})
		e := wantHeld(t, pool.Drain(withTimeout(t, 2*time.Second)), context.DeadlineExceeded)
		if e.Op != "Drain" || e.Objects != 1 || e.References != 1 || !slices.Equal(e.Versions, []uint64{first}) || e.Longest != 2*time.Second {
			t.Errorf("%+v", e)
		}
		const want = "poolswap: Drain: context deadline exceeded; still held: 1 (references: 1, versions: [1], longest: 2s) [*poolswap_test.table]"
		if e.Error() != want {
			t.Errorf("text\n got: %s\nwant: %s", e, want)
		}
		time.AfterFunc(time.Second, func() { c.Release(also) })
		begun := time.Now()
		publish(t, c, set(3))
		drained := make(chan error)
		go func() { drained <- pool.Drain(t.Context()) }() // waits for later as well: it was replaced before
		time.Sleep(time.Minute)
		c.Release(later)
		if err := <-drained; err != nil || time.Since(begun) != time.Minute {
			t.Errorf("Drain returned %v after %v", err, time.Since(begun))
		}
	})
}

// TestUpdatesDoNotStarveDrain holds each object until after the next publication, so
// at any moment one is held.
func TestUpdatesDoNotStarveDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{})
		ctx, cancel := context.WithCancel(t.Context())
		var updates sync.WaitGroup
		updates.Go(func() {
			held := c.Acquire()
			for ctx.Err() == nil {
				publish(t, c, set(1))
				next := c.Acquire()
				time.Sleep(time.Second)
				c.Release(held)
				held = next
			}
			c.Release(held)
		})
		time.Sleep(10 * time.Second)
		begun := time.Now()
		if err := pool.Drain(t.Context()); err != nil || time.Since(begun) > 2*time.Second {
			t.Errorf("Drain returned %v after %v", err, time.Since(begun))
		}
		cancel()
		updates.Wait()
	})
}

func TestDrainEndsWithLostObjects(t *testing.T) {
	for _, end := range []struct {
		name  string
		reset func(*table) bool
	}{
		{"reset", func(*table) bool { return true }},
		{"refused by reset and discarded", func(*table) bool { return false }},
		{"lost to a panic", func(*table) bool { panic(errHook) }},
		{"lost to Goexit", func(*table) bool { runtime.Goexit(); return true }},
	} {
		t.Run(end.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHooked(poolswap.Options[table]{})
				c := poolswap.NewContainer(h.Pool, &table{value: 1})
				waited, done := false, false
				h.onReset(func(obj *table) bool {
					time.Sleep(time.Second) // Drain waits for the hook
					waited = !done
					return end.reset(obj)
				})
				held := c.Acquire()
				c.Update(&table{value: 2})
				time.AfterFunc(time.Second, func() { c.Release(held) })
				if err := h.Drain(t.Context()); err != nil || !waited {
					t.Errorf("Drain returned %v; it waited: %v", err, waited)
				}
				done = true
				if s := h.Stats(); s.Retired != 0 || s.PendingReset != 0 || s.Resetting != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
	t.Run("collected", func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{})
		c.Acquire() // and forgets it
		c.Update(nil)
		drained := make(chan error)
		go func() { drained <- pool.Drain(t.Context()) }()
		pooltest.Eventually(t, "the collection of a leaked object ends Drain", func() bool {
			runtime.GC()
			select {
			case err := <-drained:
				if err != nil {
					t.Error(err)
				}
				return true
			default:
				return false
			}
		})
	})
}

// TestHeldErrorOfSeveralObjects: Longest is the age of the object that was replaced
// first, in any order of their creation, and Versions ascend.
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

// TestHeldErrorCountsPendingResets counts them in the hook and before it.
func TestHeldErrorCountsPendingResets(t *testing.T) {
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

// TestWaitsWithEndedContext: a wait fails although there is a version to return.
func TestWaitsWithEndedContext(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if v, err := c.Wait(ended, 0); v != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returned %d, %v", v, err)
	}
}
