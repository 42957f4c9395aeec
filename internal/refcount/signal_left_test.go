package refcount_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// TestNoSignalIsLeftBehind: a signal that nothing waits for could be fired by a
// cleanup of the runtime, outside of the bubble that it was made in.
func TestNoSignalIsLeftBehind(t *testing.T) {
	for _, wait := range []struct {
		name string
		wait func(ctx context.Context, pool *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error
	}{
		{"Publish", func(ctx context.Context, _ *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error {
			_, err := c.Publish(ctx, func(*table, *table) error { return nil })
			return err
		}},
		{"Drain", func(ctx context.Context, pool *poolswap.Pool[table, *table], _ *poolswap.Container[table, *table]) error {
			return pool.Drain(ctx)
		}},
		{"Wait", func(ctx context.Context, _ *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error {
			_, err := c.Wait(ctx, c.Version())
			return err
		}},
		{"Close", func(ctx context.Context, pool *poolswap.Pool[table, *table], _ *poolswap.Container[table, *table]) error {
			return pool.Close(ctx)
		}},
	} {
		t.Run(wait.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
				c := poolswap.NewContainer(pool, &table{})
				held := c.Acquire()
				c.Update(c.GetNew())
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := wait.wait(ctx, pool, c); err == nil {
					t.Error("it did not wait")
				}
				if poolOf(pool).SignalLeft() || slotOf(c).SignalLeft() {
					t.Error("its signal is left")
				}
				c.Release(held)
			})
		})
	}
}

// TestTheCollectorWakesNothingForAFreeObject: nothing waits for one, and what waits
// in a bubble must not be woken by a cleanup, which runs outside of it.
func TestTheCollectorWakesNothingForAFreeObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{Spares: 1})
		c := poolswap.NewContainer(pool, &table{})
		held := c.Acquire()
		c.Update(nil)
		drained := make(chan error)
		go func() { drained <- pool.Drain(t.Context()) }()
		synctest.Wait()
		func() {
			spare, surplus := pool.Get(), pool.Get()
			pool.Release(spare)
			pool.Release(surplus) // to the overflow
		}()
		for pool.Stats().Collected == 0 {
			runtime.GC()
		}
		c.Release(held)
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// TestAWaitThatEndedInABubbleLeavesNothingBehind: to fire its signal outside of the
// bubble would be fatal.
func TestAWaitThatEndedInABubbleLeavesNothingBehind(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, c.Version()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v", err)
		}
	})
	c.Update(c.GetNew())
}

// TestAWaitThatEndsWakesNoOther: a channel of Changed stays open, and a second Wait
// goes on.
func TestAWaitThatEndsWakesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTableContainer(poolswap.Options[table]{})
		first := c.Version()
		changed := c.Changed(first)
		other := make(chan uint64)
		go func() {
			version, err := c.Wait(t.Context(), first)
			if err != nil {
				t.Error(err)
			}
			other <- version
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v", err)
		}
		select {
		case <-changed:
			t.Error("the channel of Changed is closed, and nothing was published")
		case <-other:
			t.Error("the other Wait returned, and nothing was published")
		default:
		}
		c.Update(c.GetNew())
		<-changed
		if version := <-other; version != c.Version() {
			t.Errorf("Wait returned version %d, and %d is current", version, c.Version())
		}
	})
}
