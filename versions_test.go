package poolswap_test

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestVersions(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		a, b := poolswap.NewEmptyContainer(pool), poolswap.NewContainer(pool, &table{})
		if a.Version() != 0 || a.VersionOf(nil) != 0 || b.Version() == 0 {
			t.Fatalf("an empty container has version %d, a new one %d", a.Version(), b.Version())
		}
		seen := map[uint64]bool{b.Version(): true}
		for range 10 {
			for _, c := range []*poolswap.Container[table, *table]{a, b} {
				before := c.Version()
				if now := publish(t, c, set(1)); now <= before || seen[now] || c.Version() != now {
					t.Fatalf("version %d after %d; seen %v", now, before, seen)
				}
				seen[c.Version()] = true
				c.Update(c.GetNew())
				if now := c.Version(); now <= before || seen[now] {
					t.Fatalf("version %d after %d; seen %v", now, before, seen)
				}
				seen[c.Version()] = true
			}
		}
		last := a.Version()
		if a.Update(nil); a.Version() != 0 {
			t.Errorf("an emptied container has version %d", a.Version())
		}
		if now := publish(t, a, set(1)); now <= last {
			t.Errorf("version %d after %d and Update(nil)", now, last)
		}
	})
}

// TestVersionOf of an object that is held, and of one that the caller owns.
func TestVersionOf(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{Spares: 1})
	c := poolswap.NewContainer(pool, &table{})
	first := c.Version()
	held := c.Acquire()
	second := publish(t, c, set(1))
	if v := c.VersionOf(held); v != first {
		t.Errorf("the held object, replaced, has version %d, want %d", v, first)
	}
	c.Release(held)
	pooltest.Settled(t, pool, 0)
	next := pool.Get()
	if next != held {
		t.Fatal("Get did not return the object that drained")
	}
	if v := c.VersionOf(next); v != first {
		t.Errorf("a recycled object has version %d, want the one under which it was last current, %d", v, first)
	}
	pool.Release(next)
	if next = pool.Get(); c.VersionOf(next) != 0 {
		t.Errorf("an object that was given back unpublished has version %d", c.VersionOf(next))
	}
	publish(t, c, func(next, current *table) error { // the pool makes a new one
		if c.VersionOf(next) != 0 || c.VersionOf(current) != second {
			t.Errorf("in fill, next has version %d, current %d, want 0 and %d", c.VersionOf(next), c.VersionOf(current), second)
		}
		return nil
	})
	if v := c.VersionOf(&table{}); v != 0 {
		t.Errorf("a literal has version %d", v)
	}
	pool.Release(next) // beyond the one spare: discarded or in the overflow

	noSpares := newTablePool(poolswap.Options[table]{Spares: poolswap.NoSpares})
	d := poolswap.NewContainer(noSpares, &table{})
	gone := current(d)
	d.Update(nil)
	d.Update(gone) // brought back
	if v := d.VersionOf(gone); v == 0 || v != d.Version() {
		t.Errorf("the object that was brought back has version %d, current is %d", v, d.Version())
	}
}

func TestMisuseOfVersionOfAndRetain(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	free := pool.Get()
	pool.Release(free)
	private := pool.Get()
	if private != free {
		t.Fatal("Get did not return the released object")
	}
	elsewhere := newTableContainer(poolswap.Options[table]{})
	foreign := elsewhere.Acquire()
	discarding := newTablePool(poolswap.Options[table]{Spares: poolswap.NoSpares})
	d := poolswap.NewContainer(discarding, &table{})
	discarded := current(d)
	d.Update(nil)
	const none = "[generation 1, acquired 0 times, released 0 times]"
	pooltest.WantPanic(t, "poolswap: Retain of a *poolswap_test.table that is not published (Retain is for an object that Acquire returned) "+none, func() { c.Retain(private) })
	pool.Release(private)
	for _, misuse := range []struct {
		name string
		do   func()
		want string
	}{
		{"VersionOf of a free object", func() { c.VersionOf(free) }, "poolswap: VersionOf of a *poolswap_test.table that is in the pool (released before VersionOf?) " + none},
		{"Retain of a free object", func() { c.Retain(free) }, "poolswap: Retain of a *poolswap_test.table that is in the pool (released before Retain?) " + none},
		{"Retain of a literal", func() { c.Retain(&table{}) }, "poolswap: Retain of a *poolswap_test.table that was never published (a literal? only Get, Acquire and Update make an object the pool's), or whose Ref was overwritten (by *t = T{…}?)"},
		{"VersionOf of another pool's object", func() { c.VersionOf(foreign) }, "poolswap: VersionOf of a *poolswap_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 1 times, released 0 times]"},
		{"Retain of another pool's object", func() { c.Retain(foreign) }, "poolswap: Retain of a *poolswap_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 1 times, released 0 times]"},
		{"VersionOf of a discarded object", func() { d.VersionOf(discarded) }, "poolswap: VersionOf of a *poolswap_test.table that the pool has discarded (released before VersionOf?) [generation 0, acquired 1 times, released 1 times]"},
		{"Retain of a discarded object", func() { d.Retain(discarded) }, "poolswap: Retain of a *poolswap_test.table that the pool has discarded (released before Retain?) [generation 0, acquired 1 times, released 1 times]"},
		{"Wait with a nil Context", func() { c.Wait(noContext, 0) }, "poolswap: Wait with a nil Context"},
		{"Versions with a nil Context", func() { c.Versions(noContext) }, "poolswap: Versions with a nil Context"},
		{"VersionOf of a copy", func() { c.VersionOf(pooltest.CopyOf(free)) }, "poolswap: VersionOf of a copy of a *poolswap_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)"},
	} {
		t.Run(misuse.name, func(t *testing.T) { pooltest.WantPanic(t, misuse.want, misuse.do) })
	}
	if c.Retain(nil) != nil {
		t.Error("Retain(nil) is not nil")
	}
}

func TestRetainAcrossGoroutines(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		obj := c.Acquire()
		again := c.Retain(obj)
		if again != obj || pool.Refs(obj) != 2 {
			t.Fatalf("Retain returned %p of %p; %d references", again, obj, pool.Refs(obj))
		}
		publish(t, c, set(2))
		third := c.Retain(obj) // of an object that was replaced
		c.Release(obj)
		c.Release(again)
		if s := pool.Stats(); s.Retired != 1 || s.Held != 1 || third.value != 1 {
			t.Errorf("one reference is left: %+v, value %d", s, third.value)
		}
		c.Release(third)
		if s := pooltest.Settled(t, pool, 0); s.Retired != 0 || s.Held != 0 || s.Spares != 1 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

func TestChangedAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := poolswap.NewEmptyContainer(newTablePool(poolswap.Options[table]{}))
		isClosed := func(ch <-chan struct{}) bool {
			select {
			case <-ch:
				return true
			default:
				return false
			}
		}
		first := c.Changed(0)
		if isClosed(first) || c.Changed(0) != first {
			t.Error("Changed of an empty container is closed, or another channel for each")
		}
		c.Update(nil)
		if isClosed(first) {
			t.Error("emptying wakes")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if v, err := c.Wait(ctx, 0); v != 0 || err != context.DeadlineExceeded {
			t.Errorf("Wait for a version that does not come: %d, %v", v, err)
		}
		if v, err := c.Wait(ctx, 0); v != 0 || err != context.DeadlineExceeded {
			t.Errorf("Wait with a ctx that has ended: %d, %v", v, err)
		}
		time.AfterFunc(time.Minute, func() { publish(t, c, set(1)) })
		begun := time.Now()
		v, err := c.Wait(t.Context(), 0)
		if v == 0 || v != c.Version() || err != nil || time.Since(begun) != time.Minute {
			t.Errorf("Wait returned %d, %v after %v", v, err, time.Since(begun))
		}
		if !isClosed(first) || !isClosed(c.Changed(0)) || isClosed(c.Changed(v)) {
			t.Error("after a publication the channels of before are not closed, or that of after is")
		}
		if again, err := c.Wait(t.Context(), v-1); again != v || err != nil {
			t.Errorf("Wait for a version that is there: %d, %v", again, err)
		}
		ch := c.Changed(v + 100)
		publish(t, c, set(2))
		if !isClosed(ch) {
			t.Error("Changed with a version in the future is not closed at the next publication")
		}

		// Close ends both.
		v, ch = c.Version(), c.Changed(c.Version())
		time.AfterFunc(time.Second, func() { c.Close(t.Context()) })
		if got, err := c.Wait(t.Context(), v); got != 0 || err != poolswap.ErrClosed {
			t.Errorf("Wait that Close ends: %d, %v", got, err)
		}
		if !isClosed(ch) || !isClosed(c.Changed(0)) {
			t.Error("Close leaves a channel open")
		}
		if got, err := c.Wait(t.Context(), 0); got != 0 || err != poolswap.ErrClosed {
			t.Errorf("Wait after Close: %d, %v", got, err)
		}
	})
}

// TestVersionsLoop: after each end of the loop nothing is held.
func TestVersionsLoop(t *testing.T) {
	for _, end := range []struct {
		name string
		// run loops until the third version and ends in its own way.
		run func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool)
	}{
		{"break", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			for v, obj := range c.Versions(t.Context()) {
				if !visit(v, obj) {
					break
				}
			}
		}},
		{"return", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			for v, obj := range c.Versions(t.Context()) {
				if !visit(v, obj) {
					return
				}
			}
		}},
		{"a panic in the body", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			defer func() { recover() }()
			for v, obj := range c.Versions(t.Context()) {
				if !visit(v, obj) {
					panic("of the body")
				}
			}
		}},
		{"Goexit in the body", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			pooltest.OnAnother(func() {
				for v, obj := range c.Versions(t.Context()) {
					if !visit(v, obj) {
						runtime.Goexit()
					}
				}
			})
		}},
		{"the end of ctx", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			ctx, cancel := context.WithCancel(t.Context())
			for v, obj := range c.Versions(ctx) {
				if !visit(v, obj) {
					cancel()
				}
			}
			cancel()
		}},
		{"Close", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			for v, obj := range c.Versions(t.Context()) {
				if !visit(v, obj) {
					go c.Close(t.Context())
				}
			}
		}},
		{"iter.Pull and stop", func(t *testing.T, c *poolswap.Container[table, *table], visit func(uint64, *table) bool) {
			next, stop := iter.Pull2(c.Versions(t.Context()))
			for {
				v, obj, ok := next()
				if !ok || !visit(v, obj) {
					break
				}
			}
			if pool := c.Acquire(); pool == nil {
				t.Error("the container is empty")
			} else {
				c.Release(pool)
			}
			stop()
		}},
	} {
		t.Run(end.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newTablePool(poolswap.Options[table]{})
				c := poolswap.NewContainer(pool, &table{value: 1})
				var values []int
				var versions []uint64
				end.run(t, c, func(v uint64, obj *table) bool {
					values, versions = append(values, obj.value), append(versions, v)
					if v != c.VersionOf(obj) || pool.Refs(obj) != 1 {
						t.Errorf("version %d of an object of version %d with %d references", v, c.VersionOf(obj), pool.Refs(obj))
					}
					next := obj.value + 1
					go func() { // after the body
						time.Sleep(time.Second)
						c.Publish(t.Context(), set(next))
					}()
					return len(values) < 3
				})
				time.Sleep(time.Minute) // the last publication has come
				synctest.Wait()
				if !slices.Equal(values, []int{1, 2, 3}) || !slices.IsSorted(versions) {
					t.Errorf("values %v, versions %v", values, versions)
				}
				if s := pool.Stats(); s.Held != 0 || s.Retired != 0 {
					t.Errorf("something is held afterwards: %+v", s)
				}
			})
		})
	}
}

// TestVersionsLoopWithSlowBody: it misses versions in between, and starts with the
// current one.
func TestVersionsLoopWithSlowBody(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	var values []int
	for _, obj := range c.Versions(t.Context()) {
		values = append(values, obj.value)
		if len(values) == 2 {
			break
		}
		for value := 2; value <= 5; value++ {
			publish(t, c, set(value))
		}
	}
	if !slices.Equal(values, []int{1, 5}) {
		t.Errorf("values %v", values)
	}
}

// TestVersionsLoopYieldsOnce: also a version that is published between the Wait and
// the Acquire of the loop.
func TestVersionsLoopYieldsOnce(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	defer keepUpdating(c)()
	last, seen := uint64(0), 0
	for v := range c.Versions(t.Context()) {
		if v <= last {
			t.Fatalf("version %d after %d", v, last)
		}
		last = v
		if seen++; seen == 50_000 {
			return
		}
	}
}

// keepUpdating updates c from another goroutine until stop is called.
func keepUpdating(c *poolswap.Container[table, *table]) (stop func()) {
	ended := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				c.Update(c.GetNew())
				runtime.Gosched() // with one P each version would cost a time slice
			}
		}
	})
	return func() {
		close(ended)
		writer.Wait()
	}
}

// TestVersionOfReturnedObject: the object was discarded, so its content may not be
// that of its version.
func TestVersionOfReturnedObject(t *testing.T) {
	only := new(table)
	pool := poolswap.NewPoolWithOptions(func() *table { return only }, nil, poolswap.Options[table]{Spares: poolswap.NoSpares})
	c := poolswap.NewEmptyContainer(pool)
	publish(t, c, set(1))
	c.Update(nil) // discards it
	publish(t, c, func(next, _ *table) error {
		if v := c.VersionOf(next); next != only || v != 0 {
			t.Errorf("%p has version %d, want 0 of %p", next, v, only)
		}
		return nil
	})
}
