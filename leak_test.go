package poolswap_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// forget acquires the current object n times and keeps nothing of it.
//
//go:noinline
func forget(c *poolswap.Container[table, *table], n int) {
	for range n {
		c.Acquire()
	}
}

// forgetReader drops a Reader that holds the current object.
//
//go:noinline
func forgetReader(c *poolswap.Container[table, *table], _ int) {
	c.NewReader().Load()
}

func TestAnObjectThatWasHeldWhenItWasCollectedIsToldAsALeak(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name   string
			forget func(*poolswap.Container[table, *table], int)
			held   int
		}{
			{"a forgotten Release", forget, 1},
			{"three forgotten Releases", forget, 3},
			{"a Reader dropped without Close", forgetReader, 1},
		} {
			t.Run(test.name, func(t *testing.T) {
				var reports pooltest.Reports
				options.Report = reports.Report
				pool := newTablePool(options)
				c := poolswap.NewContainer(pool, &table{value: 1})
				test.forget(c, test.held)
				c.Update(&table{value: 2})
				if s := pool.Stats(); s.Retired != 1 || s.Leaked != 0 {
					t.Errorf("before a collection: %+v", s)
				}
				pooltest.Eventually(t, "the leak is told", func() bool {
					runtime.GC()
					return len(reports.All()) > 0
				})
				var leak *poolswap.Leak
				if err := reports.All()[0]; !errors.As(err, &leak) || *leak != (poolswap.Leak{Type: "*poolswap_test.table", Held: test.held}) {
					t.Errorf("told %v", err)
				}
				s := pooltest.Settled(t, pool, 0)
				if s.Leaked != 1 || s.Collected != 1 || s.Retired != 0 || s.Live != 1 {
					t.Errorf("after a collection: %+v", s)
				}
				c.WithAcquire(func(obj *table) {
					if obj.value != 2 {
						t.Errorf("the container serves value %d", obj.value)
					}
				})
			})
		}
	})
}

//go:noinline
func dropContainer(pool *poolswap.Pool[table, *table], use func(*poolswap.Container[table, *table])) {
	use(poolswap.NewContainer(pool, &table{value: 1}))
}

func TestADroppedContainerIsNoLeak(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name string
			use  func(*poolswap.Container[table, *table])
			told string
		}{
			{"with its releases balanced", func(c *poolswap.Container[table, *table]) { c.Release(c.Acquire()) }, ""},
			{
				"with a Release too many", func(c *poolswap.Container[table, *table]) { obj := c.Acquire(); c.Release(obj); c.Release(obj) },
				"poolswap: Release of a *poolswap_test.table more often than it was acquired: 1 too many (released twice, or by a goroutine that did not acquire it?) [generation 0, acquired 1 times, released 2 times]",
			},
			{"with an object in the writer", func(c *poolswap.Container[table, *table]) { c.GetNew() }, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				var reports pooltest.Reports
				options.Report = reports.Report
				pool := newTablePool(options)
				dropContainer(pool, test.use)
				pooltest.Eventually(t, "its object is collected", func() bool {
					runtime.GC()
					return pool.Stats().Live == 0
				})
				if s := pooltest.Settled(t, pool, 0); s.Leaked != 0 || s.Current != 0 {
					t.Errorf("%+v", s)
				}
				if test.told != "" { // the accounts are settled first
					pooltest.Eventually(t, "it is told", func() bool { return len(reports.All()) > 0 })
				}
				if told := pooltest.WithoutAddress(strings.TrimSpace(reports.String())); told != test.told {
					t.Errorf("told %q, want %q", told, test.told)
				}
			})
		}
	})
}

func TestALeakIsAnErrorThatSaysWhatToLookFor(t *testing.T) {
	leak := &poolswap.Leak{Type: "*app.Table", Held: 2}
	const want = "poolswap: a *app.Table was dropped with 2 references never released (a forgotten Release or Close?)"
	if leak.Error() != want {
		t.Errorf("%s", leak)
	}
}

// abandoned is what a program may keep that drops a pool without a word.
type abandoned struct {
	pool      weak.Pointer[poolswap.Pool[table, *table]]
	container weak.Pointer[poolswap.Container[table, *table]]
	objects   []weak.Pointer[table]
}

//go:noinline
func abandon(options poolswap.Options[table]) abandoned {
	pool := newTablePool(options)
	c := poolswap.NewContainer(pool, &table{value: 1})
	a := abandoned{pool: weak.Make(pool), container: weak.Make(c)}
	note := func(obj *table) { a.objects = append(a.objects, weak.Make(obj)) }
	for range 4 { // the last is current, the others are spares and in the overflow
		obj := pool.Get()
		note(obj)
		held := c.Acquire()
		note(held)
		c.Update(obj)
		c.Release(held)
	}
	r := c.NewReader()
	note(r.Load())   // held by a Reader,
	c.Update(nil)    // replaced,
	note(c.GetNew()) // in the hands of a writer
	return a
}

func TestADroppedPoolIsCollectedWithEverythingInIt(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		a := abandon(options)
		pooltest.Eventually(t, "pool, container and objects are collected", func() bool {
			runtime.GC()
			gone := a.pool.Value() == nil && a.container.Value() == nil
			for _, obj := range a.objects {
				gone = gone && obj.Value() == nil
			}
			return gone
		})
	})
}

// TestAnObjectDoesNotKeepItsContainerAlive: an object knows its pool, and so
// may keep that, but a program that keeps an object has not kept the container.
func TestAnObjectDoesNotKeepItsContainerAlive(t *testing.T) {
	var kept *table
	dropButKeep := func() weak.Pointer[poolswap.Container[table, *table]] {
		c := newTableContainer(poolswap.Options[table]{})
		kept = c.Acquire()
		c.Release(kept)
		return weak.Make(c)
	}
	container := dropButKeep()
	pooltest.Eventually(t, "the container is collected", func() bool {
		runtime.GC()
		return container.Value() == nil
	})
	if kept.value != 1 {
		t.Errorf("the object that is still reachable has value %d", kept.value)
	}
}
