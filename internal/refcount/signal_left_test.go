package refcount_test

import (
	"context"
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
				if poolOf(pool).SignalLeft() {
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
