package refcount_test

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// wantCollected fails the test unless the collector takes the objects within a
// hundred collections. The first takes those that nothing refers to, but for one
// that a stack still shows.
func wantCollected(t *testing.T, dropped []weak.Pointer[table]) {
	t.Helper()
	for range 100 {
		runtime.GC()
		dropped = slices.DeleteFunc(dropped, func(obj weak.Pointer[table]) bool { return obj.Value() == nil })
		if len(dropped) == 0 {
			return
		}
	}
	t.Errorf("%d objects are never collected", len(dropped))
}

// TestThePoolDoesNotKeepASpareThatIsTaken: a writer that drops its object leaves
// it to the collector.
func TestThePoolDoesNotKeepASpareThatIsTaken(t *testing.T) {
	const spares = 8
	pool := newTablePool(poolswap.Options[table]{Spares: spares})
	var dropped []weak.Pointer[table]
	func() {
		var all []*table
		for range spares {
			all = append(all, pool.Get())
		}
		for _, obj := range all {
			pool.Release(obj)
		}
		if s := pool.Stats(); s.Spares != spares {
			t.Fatalf("there are %d spares: %+v", s.Spares, s)
		}
		for range spares {
			dropped = append(dropped, weak.Make(pool.Get()))
		}
	}()
	wantCollected(t, dropped)
	runtime.KeepAlive(pool)
}

// TestAnObjectDoesNotKeepThoseThatWaitedWithItForTheirReset: objects that await
// their reset are linked, and the link ends with the wait.
func TestAnObjectDoesNotKeepThoseThatWaitedWithItForTheirReset(t *testing.T) {
	const waiting = 8
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.Spares = waiting
		resume := make(chan struct{})
		pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(obj *table) bool {
			<-resume // so that the others wait behind the first
			return true
		}, options)
		c := poolswap.NewEmptyContainer(pool)
		var kept []*table
		var dropped []weak.Pointer[table]
		func() {
			held := map[*table]bool{}
			for range waiting {
				c.Update(&table{})
				held[c.Acquire()] = true
			}
			c.Update(nil)
			for obj := range held {
				c.Release(obj)
			}
			close(resume)
			pooltest.Eventually(t, "all are reset", func() bool { return pool.Stats().Spares == waiting })
			for i := range waiting {
				obj := pool.Get()
				if i >= waiting-2 {
					kept = append(kept, obj) // those that were reset first, and linked to the others
					continue
				}
				dropped = append(dropped, weak.Make(obj))
			}
		}()
		wantCollected(t, dropped)
		runtime.KeepAlive(kept)
		runtime.KeepAlive(pool)
		runtime.KeepAlive(c)
	})
}
