package poolswap_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestContainer(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name string
			run  func(*testing.T, poolswap.Options[table])
		}{
			{"an empty container serves nil", emptyServesNil},
			{"an object that never came from the pool is served and recycled", literalIsRecycled},
			{"a replaced object is recycled when its last reader releases it", lastReaderRecycles},
			{"another goroutine, another container or the pool may release a reference", releaseElsewhere},
			{"Update recycles an object that no reader holds", updateRecycles},
			{"Update with nil empties the container", updateWithNil},
			{"an unpublished object may be released", releaseUnpublished},
			{"containers that share a pool share its objects", sharedPool},
			{"WithAcquire releases even if the function panics or calls Goexit", withAcquireReleases},
			{"a reader of one object does not delay the recycling of others", independentHolds},
		} {
			t.Run(test.name, func(t *testing.T) { test.run(t, options) })
		}
	})
}

func emptyServesNil(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	for _, c := range []*poolswap.Container[table, *table]{
		poolswap.NewEmptyContainer(pool),
		poolswap.NewContainer(pool, nil),
	} {
		if obj := c.Acquire(); obj != nil {
			t.Errorf("Acquire of an empty container returned %p", obj)
		}
		calls := 0
		c.WithAcquire(func(obj *table) {
			calls++
			if obj != nil {
				t.Errorf("WithAcquire of an empty container passed %p", obj)
			}
		})
		if calls != 1 {
			t.Errorf("WithAcquire called its function %d times", calls)
		}
	}
	if s := pool.Stats(); s.Live != 0 {
		t.Errorf("%d objects are live", s.Live)
	}
}

func literalIsRecycled(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	first, second := &table{value: 1}, &table{value: 2}
	c := poolswap.NewContainer(pool, first)
	if obj := c.Acquire(); obj != first || obj.value != 1 {
		t.Errorf("Acquire returned %p, want the literal %p", obj, first)
	}
	c.Release(first)
	c.Update(second)
	if got := c.GetNew(); got != first || got.value != 0 {
		t.Errorf("GetNew returned %p with value %d, want the replaced literal %p, reset", got, got.value, first)
	}
	if s := pool.Stats(); s.Created != 0 || s.Adopted != 2 || s.Current != 1 || s.Live != 2 {
		t.Errorf("with two literals: %+v", s)
	}
}

func lastReaderRecycles(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	old := &table{value: 1}
	c := poolswap.NewContainer(pool, old)
	const readers = 5
	for range readers {
		c.Acquire()
	}
	c.Update(&table{value: 2})
	for held := readers; held > 0; held-- {
		if refs := pool.Refs(old); refs != held {
			t.Errorf("%d references, want %d", refs, held)
		}
		if s := pool.Stats(); s.Retired != 1 || s.Spares+s.PendingReset != 0 || old.value != 1 {
			t.Fatalf("with %d readers left: value %d, %+v", held, old.value, s)
		}
		c.Release(old)
	}
	if s := pooltest.Settled(t, pool, 0); s.Spares != 1 || s.Retired != 0 {
		t.Errorf("after the last release: %+v", s)
	}
	if got := c.GetNew(); got != old || got.value != 0 {
		t.Errorf("GetNew returned %p with value %d, want the old object %p, reset", got, got.value, old)
	}
}

func releaseElsewhere(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	old := &table{value: 1}
	c, other := poolswap.NewContainer(pool, old), poolswap.NewEmptyContainer(pool)
	for range 3 {
		c.Acquire()
	}
	if _, panicked := pooltest.OnAnother(func() { c.Release(old) }); panicked != nil {
		t.Fatal(panicked)
	}
	other.Release(old)
	c.Update(&table{value: 2})
	if refs := pool.Refs(old); refs != 1 {
		t.Fatalf("%d references, want 1", refs)
	}
	pool.Release(old)
	if s := pooltest.Settled(t, pool, 0); s.Spares != 1 {
		t.Errorf("the object was not recycled: %+v", s)
	}
}

func updateRecycles(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	old := &table{value: 1}
	c := poolswap.NewContainer(pool, old)
	c.Release(c.Acquire())
	c.Update(&table{value: 2})
	if s := pool.Stats(); s.Spares != 1 || s.Drained != 1 || old.value != 0 {
		t.Errorf("after the update: value %d, %+v", old.value, s)
	}
}

func updateWithNil(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	held := c.Acquire()
	c.Update(nil)
	c.Update(nil)
	if obj := c.Acquire(); obj != nil {
		t.Errorf("Acquire of the emptied container returned %p", obj)
	}
	if held.value != 1 {
		t.Error("the object was recycled under its reader")
	}
	c.Release(held)
	pooltest.Settled(t, pool, 0)
	next := c.GetNew()
	next.value = 2
	c.Update(next)
	if obj := c.Acquire(); obj != held || obj.value != 2 {
		t.Errorf("after a new update Acquire returned %p, value %d", obj, obj.value)
	}
	c.Release(next)
	if s := pooltest.Settled(t, pool, 0); s.Updates != 2 || s.Live != 1 {
		t.Errorf("%+v", s)
	}
}

func releaseUnpublished(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	for _, release := range []func(*table){c.Release, pool.Release} {
		obj := c.GetNew()
		obj.value = 7
		release(obj)
		if s := pool.Stats(); obj.value != 0 || s.Spares != 1 || s.Live != 2 {
			t.Errorf("after the release: value %d, %+v", obj.value, s)
		}
	}
}

func sharedPool(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	a := poolswap.NewContainer(pool, &table{value: 1})
	b := poolswap.NewContainer(pool, &table{value: 2})
	shared := a.Acquire()
	a.Release(shared)
	a.Update(pool.Get())
	if obj := b.GetNew(); obj != shared {
		t.Fatalf("got %p, want %p", obj, shared)
	}
	shared.value = 3
	b.Update(shared)
	obj := b.Acquire()
	if obj != shared || obj.value != 3 {
		t.Errorf("the second container serves %p, value %d", obj, obj.value)
	}
	b.Release(obj)
	if s := pooltest.Settled(t, pool, 0); s.Current != 2 || s.Live != 3 {
		t.Errorf("%+v", s)
	}
}

func withAcquireReleases(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	obj := &table{value: 1}
	c := poolswap.NewContainer(pool, obj)
	for name, fn := range map[string]func(*table){
		"returns": func(got *table) {
			if got != obj || pool.Refs(obj) != 1 {
				t.Errorf("the function received %p with %d references", got, pool.Refs(obj))
			}
		},
		"panics":       func(*table) { panic("the function's own") },
		"calls Goexit": func(*table) { runtime.Goexit() },
	} {
		_, panicked := pooltest.OnAnother(func() { c.WithAcquire(fn) })
		if name == "panics" && panicked != "the function's own" {
			t.Errorf("WithAcquire panicked with %v, want the function's own", panicked)
		}
		if refs := pool.Refs(obj); refs != 0 {
			t.Errorf("%d references after a function that %s", refs, name)
		}
	}
}

func independentHolds(t *testing.T, options poolswap.Options[table]) {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	var held []*table
	for value := 2; value < 10; value++ {
		held = append(held, c.Acquire())
		c.Update(&table{value: value})
	}
	for _, i := range []int{3, 0, 7, 1, 6, 2, 5, 4} {
		if held[i].value != i+1 {
			t.Errorf("object %d has value %d: recycled under its reader", i, held[i].value)
		}
		c.Release(held[i])
	}
	pooltest.Eventually(t, "all objects are drained", func() bool { return pool.Stats().Drained == 8 })
}

func TestNilContainerPanics(t *testing.T) {
	var c *poolswap.Container[table, *table]
	for name, call := range map[string]func(){
		"Acquire":     func() { c.Acquire() },
		"Release":     func() { c.Release(&table{}) },
		"WithAcquire": func() { c.WithAcquire(func(*table) {}) },
		"Update":      func() { c.Update(&table{}) },
		"GetNew":      func() { c.GetNew() },
		"NewReader":   func() { c.NewReader() },
	} {
		_, panicked := pooltest.OnAnother(call) // a goroutine that ends pinned crashes the process
		if _, ok := panicked.(runtime.Error); !ok {
			t.Errorf("%s of a nil container: %v", name, panicked)
		}
	}
}

// TestContainerCacheLines: a neighbour in memory must not share the line of the word
// that readers read, or the line that is fetched with it.
func TestContainerCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(poolswap.Container[table, *table]{}); size != 256 {
		t.Errorf("a Container is %d bytes, want 256", size)
	}
}
