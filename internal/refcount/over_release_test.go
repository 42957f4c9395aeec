package refcount_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// excesses are the ways in which a caller that did nothing wrong finds that an
// object was released too often. Each returns the object and the caller's call.
var excesses = []struct {
	name string
	find func(c *poolswap.Container[table, *table]) (obj *table, call func())
	want poolswap.OverRelease // but for Type and Object
}{
	{
		name: "an Update that drains the object",
		find: func(c *poolswap.Container[table, *table]) (*table, func()) {
			obj := c.Acquire()
			c.Release(obj)
			c.Release(obj)
			return obj, func() { c.Update(c.GetNew()) }
		},
		want: poolswap.OverRelease{Generation: 1, Acquired: 1, Released: 2},
	},
	{
		name: "the last reader's Release",
		find: func(c *poolswap.Container[table, *table]) (*table, func()) {
			obj := c.Acquire()
			c.Update(c.GetNew())
			objectOf(obj).CountRelease() // and stops before it checks
			return obj, func() { c.Release(obj) }
		},
		want: poolswap.OverRelease{Generation: 1, Acquired: 1, Released: 2},
	},
	{
		name: "Park of the last Reader",
		find: func(c *poolswap.Container[table, *table]) (*table, func()) {
			r := c.NewReader()
			obj := r.Load()
			c.Update(c.GetNew())
			objectOf(obj).CountRelease()
			return obj, r.Park
		},
		want: poolswap.OverRelease{Generation: 1, Acquired: 1, Released: 2},
	},
}

// TestAnExcessReleaseGoesToReport: with a Report, a caller that finds an
// over-release goes on, and what is known is reported, never by a reader.
func TestAnExcessReleaseGoesToReport(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, excess := range excesses {
			t.Run("found by "+excess.name, func(t *testing.T) {
				var reports pooltest.Reports
				var reporter atomic.Value
				options.Report = func(err error) {
					reporter.Store(pooltest.Goroutine())
					reports.Report(err)
				}
				options.Discard = func(*table) {}
				pool := newTablePool(options)
				c := poolswap.NewContainer(pool, &table{value: 1})
				c.Update(&table{value: 2})
				c.Update(c.GetNew()) // the first object again, in generation 1
				obj, call := excess.find(c)
				caller, panicked := pooltest.OnAnother(call)
				if panicked != nil {
					t.Fatalf("the caller panicked: %v", panicked)
				}
				pooltest.Eventually(t, "it is reported", func() bool { return len(reports.All()) > 0 })
				var over *poolswap.OverRelease
				if !errors.As(reports.All()[0], &over) {
					t.Fatalf("reported %v", reports.All())
				}
				want := excess.want
				want.Type, want.Object = "*refcount_test.table", uintptr(unsafe.Pointer(obj))
				if *over != want {
					t.Errorf("reported %+v, want %+v", *over, want)
				}
				byReader := excess.name != excesses[0].name
				if by := reporter.Load(); (by == caller) == byReader {
					t.Errorf("goroutine %v reported; the caller is %v, a reader: %t", by, caller, byReader)
				}
				if s := pooltest.Settled(t, pool, 0); s.Lost != 1 || s.Current != 1 || s.Retired != 0 {
					t.Errorf("afterwards: %+v", s)
				}
				if next := c.Acquire(); next == obj {
					t.Error("the object that was given up is current")
				} else {
					c.Release(next)
				}
				if told := len(reports.All()); told != 1 {
					t.Errorf("reported %d times: %v", told, reports.String())
				}
			})
		}
	})
}

// TestAReleaseOfALostObjectGoesToReport: of an object that was given up no
// check sums any more, but its Release does.
func TestAReleaseOfALostObjectGoesToReport(t *testing.T) {
	var reports pooltest.Reports
	pool := newTablePool(poolswap.Options[table]{Report: reports.Report})
	c := poolswap.NewContainer(pool, &table{value: 1})
	obj := c.Acquire()
	c.Release(obj)
	c.Release(obj)
	c.Update(nil)
	c.Release(obj)
	pooltest.Eventually(t, "both are reported", func() bool { return len(reports.All()) == 2 })
	var over *poolswap.OverRelease
	if !errors.As(reports.All()[1], &over) || over.Acquired != 1 || over.Released != 3 {
		t.Errorf("reported %v", reports.String())
	}
}
