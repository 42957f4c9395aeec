package poolswap_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestPublishWaitsForAnObjectAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
		c := poolswap.NewContainer(pool, &table{})
		first := c.Version()
		held := c.Acquire()
		publish(t, c, set(1))
		_, err := c.Publish(withTimeout(t, time.Second), set(2))
		e := wantHeld(t, err, context.DeadlineExceeded)
		if !errors.Is(err, poolswap.ErrLimit) || e.Op != "Publish" || e.Objects != 1 || e.References != 1 || e.Current != 1 || !slices.Equal(e.Versions, []uint64{first}) {
			t.Errorf("%+v", e)
		}
		begun := time.Now()
		time.AfterFunc(time.Minute, func() { c.Release(held) })
		if v := publish(t, c, set(2)); v == 0 || time.Since(begun) != time.Minute {
			t.Errorf("Publish returned after %v", time.Since(begun))
		}

		// With all objects current, no wait can help.
		pooltest.Settled(t, pool, 0)
		other := poolswap.NewEmptyContainer(pool)
		private := pool.Get()
		time.AfterFunc(time.Hour, func() { other.Update(private) })
		begun = time.Now()
		_, err = c.Publish(t.Context(), set(3))
		e = wantHeld(t, err, poolswap.ErrLimit)
		if e.Current != 2 || e.Objects != 0 || time.Since(begun) != time.Hour {
			t.Errorf("%+v after %v", e, time.Since(begun))
		}
		const want = "poolswap: Publish: as many objects exist as Options.MaxLive allows, and none is free; current: 2 [*poolswap_test.table]"
		if e.Error() != want {
			t.Errorf("text\n got: %s\nwant: %s", e, want)
		}

		// Close ends one that waits.
		held = c.Acquire()
		other.Update(nil)
		publish(t, c, set(4))
		time.AfterFunc(time.Second, func() { c.Close(withTimeout(t, time.Second)) })
		if _, err := c.Publish(t.Context(), set(5)); err != poolswap.ErrClosed {
			t.Errorf("Publish that Close ends: %v", err)
		}
		c.Release(held)
	})
}

// TestPublishAtTheLimitIsWokenByALostObject: an object that is lost to an
// over-release makes room for another.
func TestPublishAtTheLimitIsWokenByALostObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports pooltest.Reports
		pool := newTablePool(poolswap.Options[table]{MaxLive: 3, Report: reports.Report})
		c, other := poolswap.NewContainer(pool, &table{}), poolswap.NewContainer(pool, &table{})
		private := pool.Get() // else all are current, and no wait can help
		over := current(other)
		other.Release(over)
		begun := time.Now()
		time.AfterFunc(time.Second, func() { other.Update(nil) })
		if _, err := c.Publish(withTimeout(t, time.Minute), set(1)); err != nil || time.Since(begun) != time.Second {
			t.Errorf("Publish returned %v after %v, want nil after a second", err, time.Since(begun))
		}
		synctest.Wait() // for the Report, which comes after the loss
		if s := pool.Stats(); s.Lost != 1 || len(reports.All()) != 1 {
			t.Errorf("%d lost; reported: %s", s.Lost, reports.String())
		}
		pool.Release(private)
	})
}
