package poolswap_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestReader(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name string
			run  func(*testing.T, poolswap.Options[table])
		}{
			{"Load follows the container", loadFollows},
			{"repeated Loads hold one reference", loadHoldsOne},
			{"an idle Reader delays recycling until its next Load", idleReader},
			{"a parked or closed Reader holds nothing", parkedReader},
			{"Close and Park may be called repeatedly and in any order", closeTwice},
			{"a Park that panics has let the object go", parkPanics},
			{"a Reader may be passed between goroutines", readerIsPassed},
			{"a recycled object is loaded again", recycledObjectIsLoaded},
			{"Load releases the held object before it takes another", loadReleasesFirst},
		} {
			t.Run(test.name, func(t *testing.T) { test.run(t, options) })
		}
	})
}

func loadFollows(t *testing.T, options poolswap.Options[table]) {
	c := poolswap.NewEmptyContainer(newTablePool(options))
	r := c.NewReader()
	defer r.Close()
	for range 2 {
		if obj := r.Load(); obj != nil {
			t.Fatalf("Load of an empty container returned %p", obj)
		}
		for value := 1; value < 5; value++ {
			next := c.GetNew()
			next.value = value
			c.Update(next)
			for range 2 {
				if obj := r.Load(); obj != next || obj.value != value {
					t.Fatalf("Load returned %p, value %d, want %p, %d", obj, obj.value, next, value)
				}
			}
		}
		c.Update(nil)
	}
}

func loadHoldsOne(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	obj := &table{value: 1}
	c := poolswap.NewContainer(pool, obj)
	r := c.NewReader()
	if refs := pool.Refs(obj); refs != 0 {
		t.Errorf("a new Reader holds %d references", refs)
	}
	for range 3 {
		r.Load()
		if refs := pool.Refs(obj); refs != 1 {
			t.Errorf("%d references", refs)
		}
	}
	r.Close()
}

func idleReader(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	r := c.NewReader()
	defer r.Close()
	old := r.Load()
	for value := range 5 {
		next := c.GetNew()
		next.value = 10 + value
		c.Update(next)
	}
	if s := pool.Stats(); s.Retired != 1 || old.value != 1 {
		t.Errorf("while the Reader is idle: value %d, %+v", old.value, s)
	}
	if now := r.Load(); now.value != 14 {
		t.Errorf("value %d after the updates", now.value)
	}
	if s := pooltest.Settled(t, pool, 0); s.Retired != 0 {
		t.Errorf("after the next Load: %+v", s)
	}
}

func parkedReader(t *testing.T, options poolswap.Options[table]) {
	for name, release := range map[string]func(*poolswap.Reader[table]){
		"Park":  (*poolswap.Reader[table]).Park,
		"Close": (*poolswap.Reader[table]).Close,
	} {
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		r := c.NewReader()
		r.Load()
		release(r)
		if refs := pool.Refs(obj); refs != 0 {
			t.Errorf("%d references after %s", refs, name)
		}
		c.Update(&table{value: 2})
		if s := pool.Stats(); s.Spares != 1 {
			t.Errorf("after %s Update did not recycle: %+v", name, s)
		}
		if name == "Park" {
			if obj := r.Load(); obj.value != 2 {
				t.Errorf("Load after Park returned value %d", obj.value)
			}
		}
	}
}

func closeTwice(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	obj := &table{value: 1}
	c := poolswap.NewContainer(pool, obj)
	r := c.NewReader()
	r.Park()
	r.Load()
	r.Park()
	r.Park()
	r.Load()
	r.Close()
	r.Park()
	r.Close()
	if refs := pool.Refs(obj); refs != 0 {
		t.Errorf("%d references", refs)
	}
	c.Update(nil) // panics if the object was released too often
	pooltest.Settled(t, pool, 0)
}

func parkPanics(t *testing.T, options poolswap.Options[table]) {
	c := poolswap.NewContainer(newTablePool(options), &table{value: 1})
	r := c.NewReader()
	c.Release(r.Load()) // which was the Reader's to release
	c.Update(&table{value: 2})
	if _, panicked := pooltest.OnAnother(r.Park); panicked == nil {
		t.Error("Park of an object that is in the pool does not panic")
	}
	if obj := r.Load(); obj == nil || obj.value != 2 {
		t.Errorf("Load after it returned %+v", obj)
	}
	r.Close()
}

func readerIsPassed(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	r := c.NewReader()
	for value := 2; value < 6; value++ {
		r.Load()
		c.Update(&table{value: value})
		if debugBuild {
			r.Park() // else the next Load panics
		}
		_, panicked := pooltest.OnAnother(func() {
			if obj := r.Load(); obj.value != value {
				t.Errorf("value %d, want %d", obj.value, value)
			}
			if debugBuild {
				r.Park()
			}
		})
		if panicked != nil {
			t.Fatal(panicked)
		}
	}
	r.Close()
	pooltest.Eventually(t, "all replaced objects are drained", func() bool { return pool.Stats().Retired == 0 })
}

func recycledObjectIsLoaded(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	r := c.NewReader()
	defer r.Close()
	first := r.Load()
	r.Park()
	c.Update(nil)
	pooltest.Settled(t, pool, 0)
	if obj := r.Load(); obj != nil {
		t.Fatalf("Load of the emptied container returned %p", obj)
	}
	again := c.GetNew()
	again.value = 2
	c.Update(again)
	if again != first {
		t.Fatal("GetNew did not return the recycled object")
	}
	if obj := r.Load(); obj != again || obj.value != 2 || pool.Refs(obj) != 1 {
		t.Errorf("Load returned %p, value %d, %d references", obj, obj.value, pool.Refs(obj))
	}
}

// loadReleasesFirst lets the second half of a Load panic. A Reader that took the
// next object before it released the last would hold two for a moment, and here
// for good.
func loadReleasesFirst(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	r := c.NewReader()
	held := r.Load()
	next := c.GetNew()
	c.Update(next)
	*next = table{} // overwrites its Ref
	pooltest.PanicOf(t, func() { r.Load() })
	if refs := pool.Refs(held); refs != 0 {
		t.Errorf("a Load that panicked holds %d references to the object that it held before", refs)
	}
}
