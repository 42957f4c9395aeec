package poolswap_test

import (
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// The usual way to empty a value overwrites its Ref. Readers that are late would
// then count where nobody looks, so it is refused.

func TestAResetThatOverwritesTheRefPanics(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, clean := range []bool{true, false} {
			h := newHooked(options)
			h.onReset(func(obj *table) bool { *obj = table{}; return clean })
			obj := h.Get()
			const want = "poolswap: reset of a *poolswap_test.table overwrote its Ref (by *t = T{…}? assign to the other fields)"
			pooltest.WantPanic(t, want, func() { h.Release(obj) })
			if s := h.Stats(); s.Lost != 1 || s.Live != 0 || h.discarded.Load() != 0 {
				t.Errorf("reset returned %t: %+v", clean, s)
			}
			if other := h.Get(); other == obj {
				t.Error("the object is in use again")
			}
		}
	})
}

func TestAWriterThatOverwritesTheRefIsRefused(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.MaxLive = 2
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		next := c.GetNew()
		*next = table{value: 2}
		const want = "poolswap: the Ref of a *poolswap_test.table was overwritten after the pool had handed it out (by *t = T{…}? assign to the other fields)"
		pooltest.WantPanic(t, want, func() { c.Update(next) })
		if s := pool.Stats(); s.Live != 2 || s.Adopted != 1 || s.Created != 1 {
			t.Errorf("after a refused update: %+v", s)
		}
		c.Update(next) // the panic has mended it
		c.WithAcquire(func(obj *table) {
			if obj != next || obj.value != 2 {
				t.Errorf("the container serves %+v", obj)
			}
		})
		if s := pooltest.Settled(t, pool, 0); s.Live != 2 || s.Adopted != 1 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

var global table

// TestAnObjectNeedNotBeOnTheHeap publishes what no collector ever takes.
func TestAnObjectNeedNotBeOnTheHeap(t *testing.T) {
	c := poolswap.NewContainer(newTablePool(poolswap.Options[table]{}), &global)
	reader := c.Acquire()
	c.Update(c.GetNew())
	c.Release(reader)
	var again bool
	for range 3 {
		next := c.GetNew()
		again = again || next == &global
		c.Update(next)
	}
	if !again {
		t.Error("the object did not come back from the pool")
	}
}

func TestRefsOfAnObjectThatIsBeingPublished(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewEmptyContainer(pool)
	for range 500 {
		literal := &table{value: 7}
		var both sync.WaitGroup
		both.Go(func() { c.Update(literal) })
		both.Go(func() {
			for pool.Refs(literal) != 0 {
				t.Error("references to an object that nobody acquired")
			}
		})
		both.Wait()
	}
}
