package poolswap_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// set is a fill that sets the value.
func set(value int) func(next, current *table) error {
	return func(next, _ *table) error {
		next.value = value
		return nil
	}
}

// publish is a Publish that must succeed.
func publish(t *testing.T, c *poolswap.Container[table, *table], fill func(next, current *table) error) uint64 {
	t.Helper()
	version, err := c.Publish(t.Context(), fill)
	if version == 0 || err != nil {
		t.Fatalf("Publish returned %d, %v", version, err)
	}
	return version
}

func TestPublishBuildsOnCurrent(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewEmptyContainer(pool)
		last := publish(t, c, func(next, current *table) error {
			if current != nil {
				t.Errorf("current is %p in an empty container", current)
			}
			next.value = 1
			return nil
		})
		for value := 2; value < 6; value++ {
			was := c.Acquire()
			version := publish(t, c, func(next, current *table) error {
				if current != was || next == current || next.value != 0 {
					t.Errorf("fill was called with %p, %p (value %d), current is %p", next, current, next.value, was)
				}
				next.value = current.value + 1
				return nil
			})
			c.Release(was)
			obj := c.Acquire()
			if obj.value != value || version <= last || c.Version() != version || c.VersionOf(obj) != version {
				t.Errorf("after %d, Publish returned %d; value %d, Version %d, VersionOf %d", last, version, obj.value, c.Version(), c.VersionOf(obj))
			}
			c.Release(obj)
			last = version
		}
		pooltest.Settled(t, pool, 0)
		if s := pool.Stats(); s.Created > 3 || s.FailedPublishes != 0 || s.Updates != 5 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

// TestFailedFillChangesNothing: the object is back, the turn has passed on, and the
// container is unchanged.
func TestFailedFillChangesNothing(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, failure := range []struct {
			name string
			fill func(next, current *table) error
			want error // nil: Publish does not return
		}{
			{"an error", func(*table, *table) error { return io.ErrUnexpectedEOF }, io.ErrUnexpectedEOF},
			{"a panic", func(*table, *table) error { panic("of fill") }, nil},
			{"Goexit", func(*table, *table) error { runtime.Goexit(); return nil }, nil},
		} {
			t.Run(failure.name, func(t *testing.T) {
				pool := newTablePool(options)
				c := poolswap.NewContainer(pool, &table{value: 7})
				version := c.Version()
				returned := false
				_, panicked := pooltest.OnAnother(func() {
					v, err := c.Publish(t.Context(), func(next, current *table) error {
						next.value = 8
						return failure.fill(next, current)
					})
					if returned = true; v != 0 || err != failure.want {
						t.Errorf("Publish returned %d, %v", v, err)
					}
				})
				if returned != (failure.want != nil) || (panicked != nil) != (failure.name == "a panic") {
					t.Errorf("Publish returned: %v; panicked: %v", returned, panicked)
				}
				obj := c.Acquire()
				if obj.value != 7 || c.Version() != version {
					t.Errorf("value %d, version %d, was 7 and %d", obj.value, c.Version(), version)
				}
				c.Release(obj)
				if s := pooltest.Settled(t, pool, 0); s.Held != 0 || s.Spares != 1 || s.FailedPublishes != 1 {
					t.Errorf("%+v", s)
				}
				next := pool.Get()
				if v := c.VersionOf(next); v != 0 || next.value != 0 {
					t.Errorf("an object given back half filled has version %d, value %d", v, next.value)
				}
				pool.Release(next)
				publish(t, c, set(9))
			})
		}
	})
}

func TestPublishContext(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	ctx, cancel := context.WithCancel(t.Context())
	version, err := c.Publish(ctx, func(next, _ *table) error {
		cancel()
		next.value = 5
		return nil
	})
	if version == 0 || err != nil {
		t.Errorf("a ctx that ends during fill: %d, %v", version, err)
	}
	version, err = c.Publish(ctx, func(next, _ *table) error {
		t.Error("fill is called with a ctx that has ended")
		return nil
	})
	if version != 0 || err != context.Canceled {
		t.Errorf("a ctx that has ended: %d, %v", version, err)
	}
}

// TestPublishConflict: any publication in between is a conflict, even if the current
// object has its old address.
func TestPublishConflict(t *testing.T) {
	for _, between := range []struct {
		name  string
		begin func(c *poolswap.Container[table, *table])
		fill  func(c *poolswap.Container[table, *table])
		value int // current in the end; 0 for none
	}{
		{"Update", func(c *poolswap.Container[table, *table]) { c.Update(&table{value: 1}) }, func(c *poolswap.Container[table, *table]) { c.Update(&table{value: 2}) }, 2},
		{"Update(nil)", func(c *poolswap.Container[table, *table]) { c.Update(&table{value: 1}) }, func(c *poolswap.Container[table, *table]) { c.Update(nil) }, 0},
		{"Update(nil), from nothing to nothing", func(*poolswap.Container[table, *table]) {}, func(c *poolswap.Container[table, *table]) { c.Update(nil) }, 0},
		{"Update and Update(nil), from nothing to nothing", func(*poolswap.Container[table, *table]) {}, func(c *poolswap.Container[table, *table]) {
			c.Update(&table{value: 2})
			c.Update(nil)
		}, 0},
	} {
		t.Run(between.name, func(t *testing.T) {
			pool := newTablePool(poolswap.Options[table]{})
			c := poolswap.NewEmptyContainer(pool)
			between.begin(c)
			version, err := c.Publish(t.Context(), func(next, _ *table) error {
				next.value = 9
				between.fill(c)
				return nil
			})
			if version != 0 || err != poolswap.ErrConflict {
				t.Errorf("Publish returned %d, %v", version, err)
			}
			c.WithAcquire(func(obj *table) {
				if obj == nil && between.value != 0 || obj != nil && obj.value != between.value {
					t.Errorf("%+v is current, want value %d", obj, between.value)
				}
			})
			pooltest.Settled(t, pool, 0)
			publish(t, c, set(10))
		})
	}
}

func TestMisuseOfPublish(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	other := poolswap.NewEmptyContainer(pool)
	pooltest.WantPanic(t, "poolswap: Publish with a nil fill", func() { c.Publish(t.Context(), nil) })
	pooltest.WantPanic(t, "poolswap: Publish with a nil Context", func() { c.Publish(noContext, set(1)) })
	const gone = "poolswap: Publish of a *poolswap_test.table that fill published or gave back (fill only fills next) "
	for _, misuse := range []struct {
		name, want string
		do         func(next *table)
	}{
		{"published in the same container", gone + "[generation 0, acquired 0 times, released 0 times]", func(next *table) { c.Update(next) }},
		{"published in another container", gone, func(next *table) { other.Update(next) }},
		{"released", gone, func(next *table) { pool.Release(next) }},
		{"released and taken again", gone, func(next *table) {
			pool.Release(next)
			if pool.Get() != next {
				t.Fatal("Get did not return the released object")
			}
		}},
		{"overwritten", "poolswap: Publish of a *poolswap_test.table whose Ref was overwritten after the pool had handed it out (by *t = T{…}? assign to the other fields)", func(next *table) { *next = table{value: 3} }},
	} {
		t.Run(misuse.name, func(t *testing.T) {
			text := pooltest.WithoutAddress(pooltest.PanicOf(t, func() {
				c.Publish(t.Context(), func(next, _ *table) error {
					misuse.do(next)
					return nil
				})
			}))
			if !strings.HasPrefix(text, misuse.want) {
				t.Errorf("panic text\n got: %s\nwant: %s", text, misuse.want)
			}
			version, err := c.Publish(t.Context(), func(next, _ *table) error {
				misuse.do(next)
				return io.EOF
			})
			if version != 0 || err != io.EOF {
				t.Errorf("with an error of fill, Publish returned %d, %v", version, err)
			}
			other.Update(nil)
			publish(t, c, set(4))
			c.WithAcquire(func(obj *table) {
				if obj.value != 4 {
					t.Errorf("the value is %d", obj.value)
				}
			})
		})
	}
}

// TestNextAfterPublish: the use of next after fill is reported, at once or when the
// object drains.
func TestNextAfterPublish(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	var kept *table
	keep := func(next, _ *table) error {
		kept = next
		return nil
	}
	publish(t, c, keep)
	pooltest.WantPanic(t, "poolswap: Update of a *poolswap_test.table that is current already (updated twice?) [generation 0, acquired 0 times, released 0 times]", func() { c.Update(kept) })
	c.Release(kept) // counted, since a reader could do this rightly
	version, err := c.Publish(t.Context(), set(1))
	if version == 0 || !errors.Is(err, poolswap.ErrOverReleased) {
		t.Errorf("Publish after a Release of next returned %d, %v", version, err)
	}
	publish(t, c, keep)
	publish(t, c, set(2))
	pooltest.WantPanic(t, "poolswap: Release of a *poolswap_test.table that is in the pool (released twice?) [generation 0, acquired 1 times, released 1 times]", func() { c.Release(kept) })
}

func TestPublishInsideFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTableContainer(poolswap.Options[table]{})
		begun := time.Now()
		version := publish(t, c, func(next, _ *table) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if version, err := c.Publish(ctx, set(1)); version != 0 || err != context.DeadlineExceeded {
				t.Errorf("the inner Publish returned %d, %v", version, err)
			}
			next.value = 2
			return nil
		})
		if took := time.Since(begun); took != time.Second || c.Version() != version {
			t.Errorf("it took %v; version %d, want %d", took, c.Version(), version)
		}
	})
}

// TestPublishersTakeTurns: fill never runs twice at a time, those that wait come
// in order, and one whose ctx ends leaves the others in theirs.
func TestPublishersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTableContainer(poolswap.Options[table]{})
		var order []int
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				ctx := t.Context()
				if i == 2 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
					defer cancel()
				}
				_, err := c.Publish(ctx, func(next, current *table) error {
					order = append(order, i) // a race unless they take turns
					time.Sleep(time.Second)
					next.value = current.value + 1
					return nil
				})
				if want := map[bool]error{true: context.DeadlineExceeded}[i == 2]; err != want {
					t.Errorf("publisher %d: %v, want %v", i, err, want)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		c.WithAcquire(func(obj *table) {
			if obj.value != 5 || len(order) != 4 || order[0] != 0 || order[1] != 1 || order[2] != 3 || order[3] != 4 {
				t.Errorf("value %d in the end, in the order %v", obj.value, order)
			}
		})
	})
}

func TestHooksRunWithoutTurn(t *testing.T) {
	h := newHooked(poolswap.Options[table]{})
	c := poolswap.NewContainer(h.Pool, &table{value: 1})
	ran := 0
	h.onReset(func(obj *table) bool {
		if obj.value == 1 { // replaced by the outer Publish
			publish(t, c, set(3))
			ran++
		}
		return true
	})
	publish(t, c, set(2))
	c.WithAcquire(func(obj *table) {
		if ran != 1 || obj.value != 3 {
			t.Errorf("reset published %d times; the value is %d", ran, obj.value)
		}
	})
}

func TestPublishReportsOverRelease(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		c := newTableContainer(options)
		overRelease := func() { c.Release(c.Acquire()); c.Release(current(c)) }
		overRelease()
		version, err := c.Publish(t.Context(), set(2))
		var over *poolswap.OverReleaseError
		if version == 0 || !errors.Is(err, poolswap.ErrOverReleased) || !errors.As(err, &over) || over.Released != over.Acquired+1 {
			t.Errorf("without a Report, Publish returned %d, %v", version, err)
		}
		if c.Version() != version {
			t.Errorf("the version is %d, want %d", c.Version(), version)
		}

		var reported []error
		options.Report = func(err error) {
			if _, err := c.Publish(t.Context(), set(4)); err != nil { // the turn has passed on
				t.Error(err)
			}
			reported = append(reported, err)
		}
		c = newTableContainer(options)
		overRelease()
		publish(t, c, set(3))
		if len(reported) != 1 || !errors.Is(reported[0], poolswap.ErrOverReleased) {
			t.Errorf("Report received %v", reported)
		}
	})
}

// noContext is the nil Context of the tests of misuse.
var noContext context.Context

// current returns the current object without a reference.
func current(c *poolswap.Container[table, *table]) *table {
	obj := c.Acquire()
	c.Release(obj)
	return obj
}
