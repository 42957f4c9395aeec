package refcount_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestACopiedContainerOrPoolIsRefused(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	dup, dupPool := pooltest.CopyOf(c), pooltest.CopyOf(pool)
	for op, call := range map[string]func(){
		"Update of a copy of a Container":    func() { dup.Update(&table{}) },
		"GetNew of a copy of a Container":    func() { dup.GetNew() },
		"NewReader of a copy of a Container": func() { dup.NewReader() },
		"Acquire of a copy of a Container":   func() { dup.Acquire() },
		"Get of a copy of a Pool":            func() { dupPool.Get() },
		"TryGet of a copy of a Pool":         func() { _, _ = dupPool.TryGet() },
		"Release of a copy of a Pool":        func() { dupPool.Release(&table{}) },
		"Trim of a copy of a Pool":           func() { dupPool.Trim() },
		"Refs of a copy of a Pool":           func() { dupPool.Refs(&table{}) },
		"Stats of a copy of a Pool":          func() { dupPool.Stats() },
		"NewContainer of a copy of a Pool":   func() { poolswap.NewContainer(dupPool, &table{}) },
	} {
		maker := "NewPool"
		if strings.HasSuffix(op, "Container") {
			maker = "NewContainer or NewEmptyContainer"
		}
		pooltest.WantPanic(t, "poolswap: "+op+" (use the pointer that "+maker+" returned)", call)
	}
	c.WithAcquire(func(obj *table) {
		if obj.value != 1 {
			t.Errorf("the original serves %+v", obj)
		}
	})
}

// TestAnObjectInTwoContainersIsRetiredOnce: a second retirement would let Get
// return one object to two writers.
func TestAnObjectInTwoContainersIsRetiredOnce(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		forged := poolswap.NewEmptyContainer(pool)
		slotOf(forged).Forge(objectOf(obj))

		c.Update(&table{value: 2}) // drains obj
		text := pooltest.PanicOf(t, func() { forged.Update(&table{value: 3}) })
		const want = "poolswap: Update of a *refcount_test.table that was current here and is not any more (a copied Container?)"
		if !strings.HasPrefix(text, want) {
			t.Errorf("panic text\n got: %s\nwant: %s …", text, want)
		}
		if s := pool.Stats(); s.Current != 2 || s.Retired != 0 {
			t.Errorf("%d current, %d retired, want 2 and 0", s.Current, s.Retired)
		}
		runtime.KeepAlive(c) // and what is current in it
		runtime.KeepAlive(forged)
		if err := pool.Drain(endedContext()); err != nil {
			t.Error(err)
		}
		if first, second := pool.Get(), pool.Get(); first != obj || second == obj {
			t.Errorf("Get returned %p and then %p, want %p once", first, second, obj)
		}
	})
}

// TestOneOfTwoUpdatesWithTheSameLiteralIsRefused also shows, under the race
// detector, that the refusal itself is free of races.
func TestOneOfTwoUpdatesWithTheSameLiteralIsRefused(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		c := newTableContainer(options)
		for range 300 {
			literal := &table{value: 7}
			var refused [2]any
			var both sync.WaitGroup
			for i := range refused {
				both.Go(func() {
					defer func() { refused[i] = recover() }()
					c.Update(literal)
				})
			}
			both.Wait()
			if (refused[0] == nil) == (refused[1] == nil) {
				t.Fatalf("the two updates panicked with %v and %v", refused[0], refused[1])
			}
		}
	})
}
