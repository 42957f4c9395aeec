package poolswap_test

import (
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// Assigning a zero value to the whole object, a common way to clear it,
// overwrites its Ref. Late readers would count on counters that no check sums,
// so the pool refuses it.

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
				t.Error("Get returned the lost object")
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
		c.Update(next) // the refused Update restored the Ref
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

// TestACurrentObjectThatIsOverwrittenIsGivenUp publishes first and fills then,
// by assigning to the whole object.
func TestACurrentObjectThatIsOverwrittenIsGivenUp(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.MaxLive = 3
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		r := c.NewReader()
		held := c.Acquire()
		*held = table{value: 2}
		const found = " found that the Ref of the current *poolswap_test.table was overwritten (by *t = T{…} after the Update? fill an object before it is published, and assign to the other fields)"
		for range 3 {
			pooltest.WantPanic(t, "poolswap: Acquire"+found, func() { c.Acquire() })
			pooltest.WantPanic(t, "poolswap: Acquire"+found, func() { r.Load() })
		}
		pooltest.WantPanic(t, "poolswap: Release of a *poolswap_test.table that was never published (a literal? only Get, Acquire and Update make an object the pool's), or whose Ref was overwritten (by *t = T{…}?)",
			func() { c.Release(held) })
		next := c.GetNew()
		next.value = 3
		pooltest.WantPanic(t, "poolswap: Update"+found, func() { c.Update(next) })
		c.WithAcquire(func(obj *table) {
			if obj != next {
				t.Errorf("the container serves %+v, want the object of the Update that panicked", obj)
			}
		})
		c.Release(held) // of a lost object: its Ref is restored
		pooltest.WantPanic(t, "poolswap: Update of a *poolswap_test.table that the pool gave up after misuse, a panic in reset, or a failed fence [generation 0, acquired 1 times, released 1 times]",
			func() { c.Update(held) })
		c.Update(c.GetNew())
		if s := pooltest.Settled(t, pool, 0); s.Lost != 1 || s.Live != 2 || s.Current != 1 || s.Retired != 0 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

var global table

// TestAnObjectNeedNotBeOnTheHeap publishes a global variable.
func TestAnObjectNeedNotBeOnTheHeap(t *testing.T) {
	global = table{} // no pool's, also where the test runs twice
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

func TestRefsIsZeroWhileALiteralIsPublished(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewEmptyContainer(pool)
	for range 500 {
		literal := &table{value: 7}
		var both sync.WaitGroup
		both.Go(func() { c.Update(literal) })
		both.Go(func() {
			for pool.Refs(literal) != 0 {
				t.Error("Refs counted references, but no reader acquired the object")
			}
		})
		both.Wait()
	}
}
