package refcount_test

import (
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// overReleases are the ways in which an innocent caller detects an over-release.
// prepare returns the object and the call that detects it.
var overReleases = []struct {
	name     string
	prepare  func(c *poolswap.Container[table, *table]) (obj *table, call func())
	byReader bool
	want     poolswap.OverReleaseError // without Type and Object
}{
	{
		name: "an Update that drains the object",
		prepare: func(c *poolswap.Container[table, *table]) (*table, func()) {
			obj := c.Acquire()
			c.Release(obj)
			c.Release(obj)
			return obj, func() { c.Update(c.GetNew()) }
		},
		want: poolswap.OverReleaseError{Generation: 1, Acquired: 1, Released: 2},
	},
	{
		name:     "the last reader's Release",
		byReader: true,
		prepare: func(c *poolswap.Container[table, *table]) (*table, func()) {
			obj := c.Acquire()
			c.Update(c.GetNew())
			objectOf(obj).CountRelease()
			return obj, func() { c.Release(obj) }
		},
		want: poolswap.OverReleaseError{Generation: 1, Acquired: 1, Released: 2},
	},
	{
		name:     "an Acquire that an Update overtakes",
		byReader: true,
		prepare: func(c *poolswap.Container[table, *table]) (*table, func()) {
			obj := c.Acquire()
			c.Update(c.GetNew())
			objectOf(obj).CountRelease()
			objectOf(obj).CountRelease()
			return obj, objectOf(obj).ValidationFailed // its Acquire calls this after the undo
		},
		want: poolswap.OverReleaseError{Generation: 1, Acquired: 1, Released: 2},
	},
	{
		name:     "Park of the last Reader",
		byReader: true,
		prepare: func(c *poolswap.Container[table, *table]) (*table, func()) {
			r := c.NewReader()
			obj := r.Load()
			c.Update(c.GetNew())
			objectOf(obj).CountRelease()
			return obj, r.Park
		},
		want: poolswap.OverReleaseError{Generation: 1, Acquired: 1, Released: 2},
	},
}

// TestAnOverReleaseIsReported: if Options.Report is set, the innocent caller
// that detects an over-release does not panic. Report is called, never on a
// reader.
func TestAnOverReleaseIsReported(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range overReleases {
			t.Run("detected by "+test.name, func(t *testing.T) {
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
				c.Update(c.GetNew()) // publishes the first object again, in generation 1
				obj, call := test.prepare(c)
				caller, panicked := pooltest.OnAnother(call)
				if panicked != nil {
					t.Fatalf("the caller panicked: %v", panicked)
				}
				pooltest.Eventually(t, "the over-release is reported", func() bool { return len(reports.All()) > 0 })
				var over *poolswap.OverReleaseError
				if !errors.As(reports.All()[0], &over) {
					t.Fatalf("reported %v", reports.All())
				}
				want := test.want
				want.Type, want.Object = "*refcount_test.table", uintptr(unsafe.Pointer(obj))
				if !reflect.DeepEqual(*over, want) {
					t.Errorf("reported %+v, want %+v", *over, want)
				}
				if by := reporter.Load(); (by == caller) == test.byReader {
					t.Errorf("goroutine %v reported; the caller is %v, a reader: %t", by, caller, test.byReader)
				}
				if s := pooltest.Settled(t, pool, 0); s.Lost != 1 || s.Current != 1 || s.Retired != 0 {
					t.Errorf("afterwards: %+v", s)
				}
				if next := c.Acquire(); next == obj {
					t.Error("the lost object is current")
				} else {
					c.Release(next)
				}
				if n := len(reports.All()); n != 1 {
					t.Errorf("reported %d times: %v", n, reports.String())
				}
			})
		}
	})
}

// TestHoldersOfALostObjectAreNotBlamed: one of three holders releases twice.
// The Update finds it; the Releases of the other holders are right.
func TestHoldersOfALostObjectAreNotBlamed(t *testing.T) {
	for _, report := range []bool{true, false} {
		var reports pooltest.Reports
		options := poolswap.Options[table]{}
		if report {
			options.Report = reports.Report
		}
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		obj := c.Acquire()
		c.Acquire()
		c.Acquire()
		for range 4 {
			c.Release(obj)
		}
		_, panicked := pooltest.OnAnother(func() { c.Update(nil) })
		if (panicked == nil) != report {
			t.Errorf("with Report %t, Update panicked with %v", report, panicked)
		}
		c.Release(obj)
		c.Release(obj)
		if s := pooltest.Settled(t, pool, 0); s.Lost != 1 || s.Live != 0 {
			t.Errorf("%+v", s)
		}
		if n := len(reports.All()); n > 1 {
			t.Errorf("reported %d times: %v", n, reports.String())
		}
	}
}
