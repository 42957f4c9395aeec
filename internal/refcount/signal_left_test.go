package refcount_test

import (
	"context"
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
