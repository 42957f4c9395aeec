//go:build poolswapsched

package refcount_test

import (
	"context"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

// TestAnObjectFromTheOverflowIsDrained publishes and replaces an object as soon as
// it is in the overflow. Its mark is then of another way out, and a Drain must wait
// for it. The harness has no part in this: its pools discard what is too much.
func TestAnObjectFromTheOverflowIsDrained(t *testing.T) {
	const current = 1
	sampleBare(t, func(w *sched.World) {
		reset := func(s *testObject) bool { s.value = recycled; return true }
		pool := poolswap.NewPoolWithOptions(func() *testObject { return new(testObject) }, reset, poolswap.Options[testObject]{Spares: 1, Portable: true})
		c := poolswap.NewEmptyContainer(pool)
		spare, surplus := pool.Get(), pool.Get()
		pool.Release(spare)
		w.Start("owner", func() { pool.Release(surplus) })
		w.Start("writer", func() {
			next, s := pool.Get(), pool.Get()
			s.value = current
			c.Update(s)
			c.Acquire()
			c.Update(next)
			w.Start("reader", func() { c.Release(s) })
			if err := pool.Drain(context.Background()); err != nil || s.value == current {
				w.Fail("Drain returned %v before the reset of what was replaced", err)
			}
		})
	})
}
