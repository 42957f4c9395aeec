package poolswap_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestDrainWaitsForWhatWasReplacedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{})
		first := c.Version()
		held := c.Acquire()
		also := c.Retain(held)
		if err := pool.Drain(t.Context()); err != nil {
			t.Errorf("Drain while what is held is current: %v", err)
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

// TestUpdatesDoNotStarveDrain: each object is held until after the next is
// published, so at no moment nothing is held.
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

func TestDrainEndsHoweverTheObjectEnds(t *testing.T) {
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
