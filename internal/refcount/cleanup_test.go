package refcount_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestTheRegistryForgetsCollectedObjects: else each adopted object would leave
// an entry and its counters behind.
func TestTheRegistryForgetsCollectedObjects(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{Spares: poolswap.NoSpares})
	c := poolswap.NewEmptyContainer(pool)
	for range 100 {
		c.Update(&table{value: 1})
	}
	c.Update(nil)
	pooltest.Eventually(t, "the registry is empty", func() bool {
		runtime.GC()
		return poolOf(pool).Registered() == 0
	})
	c.Update(&table{value: 1})
	if n := poolOf(pool).Registered(); n != 1 {
		t.Errorf("%d objects are registered, want the current one", n)
	}
	runtime.KeepAlive(c)
}

// TestDiscardMayBringTheObjectBack: the object is discarded before Discard
// runs, which may publish it again.
func TestDiscardMayBringTheObjectBack(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		var c *poolswap.Container[table, *table]
		options.Spares = poolswap.NoSpares
		options.Discard = func(obj *table) {
			obj.value = 7
			c.Update(obj)
		}
		pool := newTablePool(options)
		c = poolswap.NewEmptyContainer(pool)
		obj := pool.Get()
		pool.Release(obj)
		c.WithAcquire(func(got *table) {
			if got != obj || got.value != 7 {
				t.Errorf("the container serves %p, want %p", got, obj)
			}
		})
		if s := pool.Stats(); s.Discarded != 1 || s.Adopted != 1 || s.Current != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestDrainWaitsForAnObjectRepublishedInItsDiscard: Discard brings the object
// back, and a reader holds it when it is replaced. That Discard returns does not
// end this second way out.
func TestDrainWaitsForAnObjectRepublishedInItsDiscard(t *testing.T) {
	var c *poolswap.Container[table, *table]
	var held *table
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, nil, poolswap.Options[table]{
		Spares: poolswap.NoSpares,
		Discard: func(obj *table) {
			if held == nil {
				c.Update(obj)
				held = c.Acquire()
				c.Update(nil)
			}
		},
	})
	c = poolswap.NewEmptyContainer(pool)
	pool.Release(pool.Get())
	var e *poolswap.HeldError
	if err := pool.Drain(endedContext()); !errors.As(err, &e) || e.Objects != 1 || e.References != 1 {
		t.Errorf("while a reader holds the object, Drain returned %v", err)
	}
	c.Release(held)
	if err := pool.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
