package poolswap_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// Types that embed Ref where several objects could share it.
type (
	pointerRef      struct{ *poolswap.Ref }
	inner           struct{ poolswap.Ref }
	pointerToStruct struct{ *inner }
	middle          struct{ *inner }
	deepPointer     struct{ middle }
	deeperValue     struct { // Go promotes the pointer, because it is embedded less deep
		*poolswap.Ref
		middleByValue
	}
	middleByValue    struct{ inner }
	exactTwiceNested struct{ outer }
	outer            struct {
		padding [3]uint64
		inner
	}
)

func pointerRefusal(t *testing.T, name string, newPool func()) {
	t.Helper()
	pooltest.WantPanic(t, "poolswap: NewPool of poolswap_test."+name+": it embeds poolswap.Ref by pointer; embed it by value", newPool)
}

func TestNewPoolRefusesPointerRef(t *testing.T) {
	pointerRefusal(t, "pointerRef", func() { poolswap.NewPool(func() *pointerRef { return new(pointerRef) }, nil) })
	pointerRefusal(t, "pointerToStruct", func() { poolswap.NewPool(func() *pointerToStruct { return new(pointerToStruct) }, nil) })
	pointerRefusal(t, "deeperValue", func() { poolswap.NewPool(func() *deeperValue { return new(deeperValue) }, nil) })
	pointerRefusal(t, "deepPointer", func() { poolswap.NewPool(func() *deepPointer { return new(deepPointer) }, nil) })
}

func TestNewPoolFindsNestedRef(t *testing.T) {
	pool := poolswap.NewPool(func() *exactTwiceNested { return new(exactTwiceNested) }, nil)
	c := poolswap.NewContainer(pool, &exactTwiceNested{})
	obj := c.Acquire()
	obj.padding = [3]uint64{1, 2, 3}
	if refs := pool.Refs(obj); refs != 1 {
		t.Errorf("%d references after one Acquire", refs)
	}
	c.Update(c.GetNew())
	c.Release(obj)
	if obj.padding != [3]uint64{1, 2, 3} {
		t.Errorf("the fields before Ref were overwritten: %v", obj.padding)
	}
	pooltest.Settled(t, pool, 0)
}

func TestNewPoolRefusesBadArguments(t *testing.T) {
	factory := func() *table { return new(table) }
	pooltest.WantPanic(t, "poolswap: NewPool of poolswap_test.table with a nil factory",
		func() { poolswap.NewPool[table](nil, nil) })
	pooltest.WantPanic(t, "poolswap: NewPool of poolswap_test.table with Options.Spares -2 (NoSpares, -1, keeps none)",
		func() { poolswap.NewPoolWithOptions(factory, nil, poolswap.Options[table]{Spares: -2}) })
	pooltest.WantPanic(t, "poolswap: NewPool of poolswap_test.table with Options.MaxLive -1 (0 is no limit)",
		func() { poolswap.NewPoolWithOptions(factory, nil, poolswap.Options[table]{MaxLive: -1}) })
}

func TestGetRefusesBadFactory(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		stranger := newTablePool(options).Get()
		var next *table // the factory returns it
		pool := poolswap.NewPoolWithOptions(func() *table { return next }, nil, options)
		c := poolswap.NewContainer(pool, &table{value: 1})

		pooltest.WantPanic(t, "poolswap: the factory of the pool of *poolswap_test.table returned nil", func() { pool.Get() })

		next = &table{value: 2}
		first := pool.Get()
		pooltest.WantPanic(t, "poolswap: Get of a *poolswap_test.table that is in use (the factory returned the same object twice?) [generation 0, acquired 0 times, released 0 times]",
			func() { pool.Get() })

		next = stranger
		pooltest.WantPanic(t, "poolswap: Get of a *poolswap_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 0 times, released 0 times]",
			func() { pool.Get() })

		next = pooltest.CopyOf(first)
		pooltest.WantPanic(t, "poolswap: Get of a copy of a *poolswap_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)",
			func() { pool.Get() })

		others := newTablePool(options)
		next = others.Get()
		others.Release(next)
		others.Trim() // discards it
		pooltest.WantPanic(t, "poolswap: Get of a *poolswap_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 0 times, released 0 times]",
			func() { pool.Get() })

		next = new(table)
		pool.Release(pool.Get())
		pool.Trim()
		next = pooltest.CopyOf(next)
		pooltest.WantPanic(t, "poolswap: Get of a copy of a *poolswap_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)",
			func() { pool.Get() })

		if first.value != 2 {
			t.Errorf("the object in use was changed: value %d, want 2", first.value)
		}
		c.Update(first)
		stats := pooltest.Settled(t, pool, 0)
		if stats.Created != 2 || stats.Discarded != 1 || stats.Adopted != 1 || stats.Live != 2 || stats.Current != 1 || stats.Spares != 1 {
			t.Errorf("after six refused Gets and two good ones: %+v", stats)
		}
	})
}

func TestZeroContainerAndPoolPanic(t *testing.T) {
	// The Ref of outer is not its first field: a method that used the offset of
	// a zero Container, 0, would find other fields there.
	var c poolswap.Container[outer, *outer]
	var p poolswap.Pool[outer, *outer]
	for op, call := range map[string]func(){
		"Acquire of a zero Container":   func() { c.Acquire() },
		"GetNew of a zero Container":    func() { c.GetNew() },
		"Update of a zero Container":    func() { c.Update(&outer{}) },
		"NewReader of a zero Container": func() { c.NewReader() },
		"Get of a zero Pool":            func() { p.Get() },
		"Release of a zero Pool":        func() { p.Release(&outer{}) },
		"Trim of a zero Pool":           func() { p.Trim() },
		"Refs of a zero Pool":           func() { p.Refs(&outer{}) },
		"Stats of a zero Pool":          func() { p.Stats() },
		"NewContainer of a zero Pool":   func() { poolswap.NewContainer(&p, &outer{}) },
	} {
		maker := "NewPool"
		if strings.HasSuffix(op, "Container") {
			maker = "NewContainer or NewEmptyContainer"
		}
		pooltest.WantPanic(t, "poolswap: "+op+" (make it with "+maker+")", call)
	}
	for name, call := range map[string]func(){
		"TryGet":                func() { _, _ = p.TryGet() },
		"Update(nil)":           func() { c.Update(nil) },
		"WithAcquire":           func() { c.WithAcquire(func(*outer) { t.Error("WithAcquire of a zero Container called its function") }) },
		"NewEmptyContainer":     func() { poolswap.NewEmptyContainer(&p) },
		"NewContainer with nil": func() { poolswap.NewContainer(&p, nil) },
	} {
		if text := pooltest.PanicOf(t, call); !strings.HasPrefix(text, "poolswap: ") || !strings.Contains(text, " of a zero ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, obj := range []*outer{{}, {padding: [3]uint64{1, 0, 3}}} {
		if text := pooltest.PanicOf(t, func() { c.Release(obj) }); !strings.HasPrefix(text, "poolswap: Release of a zero Container") {
			t.Errorf("Release of a zero Container: %s", text)
		}
	}
}

func TestNilPoolPanics(t *testing.T) {
	pooltest.WantPanic(t, "poolswap: NewContainer with a nil Pool", func() { poolswap.NewContainer(nil, &table{}) })
	pooltest.WantPanic(t, "poolswap: NewEmptyContainer with a nil Pool", func() { poolswap.NewEmptyContainer[table](nil) })
}

func TestReleaseOfNilDoesNothing(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewEmptyContainer(pool)
		before := pool.Stats()
		c.Release(nil)
		pool.Release(nil)
		if after := pool.Stats(); !pooltest.Same(after, before) {
			t.Errorf("Release(nil) changed the stats from %+v to %+v", before, after)
		}
		if refs := pool.Refs(nil); refs != 0 {
			t.Errorf("%d references to nil", refs)
		}
	})
}

func TestClosedReaderPanics(t *testing.T) {
	for _, c := range []*poolswap.Container[table, *table]{
		newTableContainer(poolswap.Options[table]{}),
		poolswap.NewEmptyContainer(newTablePool(poolswap.Options[table]{})),
	} {
		r := c.NewReader()
		r.Load()
		r.Close()
		pooltest.WantPanic(t, "poolswap: Load of a closed Reader", func() { r.Load() })
	}
}

// Assigning a zero value to the whole object, a common way to clear it,
// overwrites its Ref. Late readers would count on counters that no check sums,
// so the pool refuses it.

func TestResetOverwritesRef(t *testing.T) {
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

func TestWriterOverwritesRef(t *testing.T) {
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

// TestOverwrittenCurrentObjectIsGivenUp publishes an object, and then assigns to the
// whole of it.
func TestOverwrittenCurrentObjectIsGivenUp(t *testing.T) {
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

// TestObjectOffHeap publishes a global variable.
func TestObjectOffHeap(t *testing.T) {
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

func TestRefsOfLiteralDuringUpdate(t *testing.T) {
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

// TestPublishGivesUpOverwrittenCurrent: the object is lost, as after Update, and
// readers that hold it can release it.
func TestPublishGivesUpOverwrittenCurrent(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	held := c.Acquire()
	text := pooltest.PanicOf(t, func() {
		c.Publish(t.Context(), func(next, current *table) error {
			*current = table{value: 7}
			return nil
		})
	})
	if !strings.HasPrefix(text, "poolswap: Publish found that the Ref of the current *poolswap_test.table was overwritten") {
		t.Errorf("panic text: %s", text)
	}
	if s := pool.Stats(); s.Current != 1 || s.Lost != 1 || s.Live != 1 || len(s.Versions) != 1 {
		t.Errorf("%+v", s)
	}
	c.Release(held) // does not panic
	publish(t, c, set(2))
}
