package poolswap_test

import (
	"errors"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestMaxLiveBoundsTheObjects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.MaxLive = 3
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, pool.Get())
		var held []*table
		for range 2 { // readers hold two old objects; the third is current
			held = append(held, c.Acquire())
			c.Update(c.GetNew())
		}
		before := pool.Stats()
		if obj, err := pool.TryGet(); obj != nil || !errors.Is(err, poolswap.ErrLimit) {
			t.Errorf("TryGet at the limit returned %p, %v", obj, err)
		}
		const want = "poolswap: Get from the pool of *poolswap_test.table: 3 objects are live, as many as Options.MaxLive allows, and none is free: 1 are current, 2 were replaced and are held by readers, 0 are being reset or discarded (MaxLive too small, or a forgotten Release? TryGet returns an error instead)"
		pooltest.WantPanic(t, want, func() { pool.Get() })
		pooltest.WantPanic(t, want, func() { c.GetNew() })
		if after := pool.Stats(); !pooltest.Same(after, before) {
			t.Errorf("the refused calls changed the stats from %+v to %+v", before, after)
		}

		c.Release(held[0])
		pooltest.Settled(t, pool, 0) // the sweeper may have it in hand
		obj, err := pool.TryGet()
		if obj != held[0] || err != nil {
			t.Errorf("after a release TryGet returned %p, %v, want %p", obj, err, held[0])
		}
		c.Update(obj)
		c.Release(held[1])
		if s := pooltest.Settled(t, pool, 0); s.Live != 3 || s.Created != 3 || s.Spares != 2 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

func TestAnObjectIsLiveUntilDiscardReturns(t *testing.T) {
	for _, end := range []struct {
		name string
		end  func()
	}{{"returns", func() {}}, {"panics", func() { panic(errHook) }}} {
		t.Run("Discard "+end.name, func(t *testing.T) {
			h := newHooked(poolswap.Options[table]{MaxLive: 1, Spares: poolswap.NoSpares})
			h.onDiscard(func(*table) {
				if _, err := h.TryGet(); err != poolswap.ErrLimit {
					t.Errorf("TryGet while the only object is being discarded: %v", err)
				}
				if s := h.Stats(); s.Resetting != 1 || s.Live != 1 {
					t.Errorf("in Discard: %+v", s)
				}
				end.end()
			})
			pooltest.OnAnother(func() { h.Release(h.Get()) })
			if n := h.discarded.Load(); n != 1 {
				t.Fatalf("%d objects were discarded", n)
			}
			if _, err := h.TryGet(); err != nil {
				t.Errorf("TryGet afterwards: %v", err)
			}
		})
	}
}

func TestAnObjectIsLiveDuringReset(t *testing.T) {
	h := newHooked(poolswap.Options[table]{MaxLive: 1})
	h.onReset(func(*table) bool {
		if _, err := h.TryGet(); err != poolswap.ErrLimit {
			t.Errorf("TryGet while the only object is being reset: %v", err)
		}
		if s := h.Stats(); s.Resetting != 1 || s.Live != 1 {
			t.Errorf("in reset: %+v", s)
		}
		return true
	})
	h.Release(h.Get())
	if s := h.Stats(); s.Resetting != 0 || s.Spares != 1 || h.resets.Load() != 1 {
		t.Errorf("after reset: %+v", s)
	}
}

func TestMaxLiveNeverRefusesAnUpdate(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{MaxLive: 1})
	c := poolswap.NewContainer(pool, &table{value: 1})
	first := c.Acquire()
	c.Update(&table{value: 2})
	second := c.Acquire()
	c.Update(&table{value: 3})
	if s := pool.Stats(); s.Live != 3 {
		t.Errorf("with three literals: %+v", s)
	}
	if _, err := pool.TryGet(); err != poolswap.ErrLimit {
		t.Errorf("TryGet above the limit: %v", err)
	}
	c.Release(first)
	c.Release(second)
	pooltest.Settled(t, pool, 0)
}

func TestMaxLiveKeepsNothingBeyondTheSpares(t *testing.T) {
	// Objects in the overflow would count as live until a collection, but Get
	// might not find them.
	pool := newTablePool(poolswap.Options[table]{MaxLive: 6, Spares: 1})
	var objs []*table
	for range 6 {
		objs = append(objs, pool.Get())
	}
	for _, obj := range objs {
		pool.Release(obj)
	}
	if s := pool.Stats(); s.Live != 1 || s.Spares != 1 || s.Discarded != 5 {
		t.Errorf("%+v", s)
	}
	for range 6 {
		if _, err := pool.TryGet(); err != nil {
			t.Fatal(err)
		}
	}
}
