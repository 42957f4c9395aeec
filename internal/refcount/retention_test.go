package refcount_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// collected waits until the collector has taken what is not kept.
func collected(t *testing.T, what string, dropped []weak.Pointer[table]) {
	t.Helper()
	pooltest.Eventually(t, what, func() bool {
		runtime.GC()
		for _, obj := range dropped {
			if obj.Value() != nil {
				return false
			}
		}
		return true
	})
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
	collected(t, "the spares that were taken are collected", dropped)
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
		collected(t, "the others are collected", dropped)
		runtime.KeepAlive(kept)
		runtime.KeepAlive(pool)
		runtime.KeepAlive(c)
	})
}
