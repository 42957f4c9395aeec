package poolswap_test

import (
	"strings"
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

func TestNewPoolRefusesARefEmbeddedByPointer(t *testing.T) {
	pointerRefusal(t, "pointerRef", func() { poolswap.NewPool(func() *pointerRef { return new(pointerRef) }, nil) })
	pointerRefusal(t, "pointerToStruct", func() { poolswap.NewPool(func() *pointerToStruct { return new(pointerToStruct) }, nil) })
	pointerRefusal(t, "deeperValue", func() { poolswap.NewPool(func() *deeperValue { return new(deeperValue) }, nil) })
	pointerRefusal(t, "deepPointer", func() { poolswap.NewPool(func() *deepPointer { return new(deepPointer) }, nil) })
}

func TestNewPoolFindsARefNestedByValue(t *testing.T) {
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

func TestGetRefusesBadObjectsOfTheFactory(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		stranger := newTablePool(options).Get()
		var next *table // what the factory returns
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

func TestAZeroContainerOrPoolIsRefusedByEveryMethod(t *testing.T) {
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

func TestANilPoolIsRefused(t *testing.T) {
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

func TestAClosedReaderIsRefused(t *testing.T) {
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
