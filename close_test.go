package poolswap_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// withTimeout returns a ctx that ends after d.
func withTimeout(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// wantHeld checks an error of Drain, Close or Publish and returns it.
func wantHeld(t *testing.T, err, cause error) *poolswap.HeldError {
	t.Helper()
	var held *poolswap.HeldError
	if !errors.As(err, &held) || !errors.Is(err, cause) {
		t.Fatalf("the error is %v, want a HeldError for %v", err, cause)
	}
	return held
}

func TestClosedContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c, other := poolswap.NewContainer(pool, &table{value: 1}), poolswap.NewContainer(pool, &table{value: 2})
		version := c.Version()
		held, next := c.Acquire(), c.GetNew()
		e := wantHeld(t, c.Close(withTimeout(t, time.Second)), context.DeadlineExceeded)
		if e.Op != "Close" || e.Objects != 1 || e.References != 1 || e.Private != 0 || e.Filling || !slices.Equal(e.Versions, []uint64{version}) {
			t.Errorf("%+v", e)
		}
		if obj := c.Acquire(); obj != nil || c.Version() != 0 {
			t.Errorf("Acquire returned %p, version %d", obj, c.Version())
		}
		if v, err := c.Publish(t.Context(), func(*table, *table) error { t.Error("fill is called"); return nil }); v != 0 || err != poolswap.ErrClosed {
			t.Errorf("Publish returned %d, %v", v, err)
		}
		pooltest.WantPanic(t, "poolswap: Update of a *poolswap_test.table in a closed Container (Close came first; release the object if it came from the pool)", func() { c.Update(next) })
		pooltest.WantPanic(t, "poolswap: Update of a *poolswap_test.table in a closed Container (Close came first; release the object if it came from the pool)", func() { c.Update(&table{}) })
		c.Update(nil)
		other.Update(next) // it is still the caller's, and the pool is open
		for range c.Versions(t.Context()) {
			t.Error("Versions yields")
		}
		r := c.NewReader()
		if r.Load() != nil {
			t.Error("Load of a Reader is not nil")
		}
		r.Close()
		time.AfterFunc(time.Minute, func() { c.Release(held) })
		var closers sync.WaitGroup
		begun := time.Now()
		for range 3 {
			closers.Go(func() {
				if err := c.Close(t.Context()); err != nil || time.Since(begun) != time.Minute {
					t.Errorf("Close returned %v after %v", err, time.Since(begun))
				}
			})
		}
		synctest.Wait()
		if e := wantHeld(t, c.Close(withTimeout(t, time.Second)), context.DeadlineExceeded); e.Filling || e.Objects != 1 {
			t.Errorf("beside others that wait: %+v", e)
		}
		closers.Wait()
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("Close of a closed container: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Close(ended); err != nil {
			t.Errorf("Close with nothing to wait for and a ctx that has ended: %v", err)
		}
		if s := pool.Stats(); s.Current != 1 || s.Held != 0 || s.Retired != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestContainerCloseWaits for the container's own objects, and not for those of
// another container of the pool.
func TestContainerCloseWaits(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c, other := poolswap.NewContainer(pool, &table{value: 1}), poolswap.NewContainer(pool, &table{value: 2})
	held := other.Acquire()
	other.Update(nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Close(ended); err != nil {
		t.Errorf("while a reader holds an object of another container: %v", err)
	}
	wantHeld(t, other.Close(ended), context.Canceled)
	other.Release(held)
}

// TestCloseEndsPublishers: Close waits for one in fill, which ends unpublished; one
// that waits for its turn ends at once.
func TestCloseEndsPublishers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewEmptyContainer(pool)
		begun := time.Now()
		ends := make(chan time.Duration, 2)
		publisher := func() {
			if v, err := c.Publish(t.Context(), func(next, _ *table) error { time.Sleep(time.Minute); return nil }); v != 0 || err != poolswap.ErrClosed {
				t.Errorf("Publish returned %d, %v", v, err)
			}
			ends <- time.Since(begun)
		}
		go publisher()
		go publisher()
		synctest.Wait()
		e := wantHeld(t, c.Close(withTimeout(t, time.Second)), context.DeadlineExceeded)
		if !e.Filling {
			t.Errorf("%+v", e)
		}
		if err := c.Close(t.Context()); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("Close returned %v after %v", err, time.Since(begun))
		}
		if first, second := <-ends, <-ends; first != 0 || second != time.Minute {
			t.Errorf("the publishers ended after %v and %v", first, second)
		}
		pooltest.Settled(t, pool, 0)
	})
}

func TestClosedPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHooked(poolswap.Options[table]{})
		pool := h.Pool
		a, b := poolswap.NewContainer(pool, &table{value: 1}), poolswap.NewContainer(pool, &table{value: 2})
		publish(t, a, set(3)) // leaves a spare
		held, private := a.Acquire(), pool.Get()
		e := wantHeld(t, pool.Close(withTimeout(t, time.Second)), context.DeadlineExceeded)
		if e.Op != "Close" || e.Objects != 1 || e.References != 1 || e.Private != 1 {
			t.Errorf("%+v", e)
		}
		const want = "poolswap: Close: context deadline exceeded; still held: 1 (references: 1, versions: [3], longest: 1s); with writers: 1 [*poolswap_test.table]"
		if e.Error() != want {
			t.Errorf("text\n got: %s\nwant: %s", e, want)
		}
		if a.Acquire() != nil || b.Acquire() != nil {
			t.Error("a container is not empty")
		}
		if _, err := b.Publish(t.Context(), set(1)); err != poolswap.ErrClosed {
			t.Errorf("Publish: %v", err)
		}
		if obj, err := pool.TryGet(); obj != nil || err != poolswap.ErrClosed {
			t.Errorf("TryGet: %p, %v", obj, err)
		}
		pooltest.WantPanic(t, "poolswap: Get from the closed pool of *poolswap_test.table", func() { pool.Get() })
		pooltest.WantPanic(t, "poolswap: Get from the closed pool of *poolswap_test.table", func() { a.GetNew() })
		pooltest.WantPanic(t, "poolswap: NewContainer with a closed Pool", func() { poolswap.NewContainer(pool, nil) })
		pooltest.WantPanic(t, "poolswap: NewEmptyContainer with a closed Pool", func() { poolswap.NewEmptyContainer(pool) })
		begun := time.Now()
		time.AfterFunc(time.Second, func() { a.Release(held) })
		time.AfterFunc(time.Minute, func() { pool.Release(private) })
		if err := pool.Close(t.Context()); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("Close returned %v after %v", err, time.Since(begun))
		}
		if s := pool.Stats(); s.Live != 0 || s.Spares != 0 || h.discarded.Load() != 3 {
			t.Errorf("%d were discarded, %+v", h.discarded.Load(), s)
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := pool.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHooksOfClose run when all that Close refuses is refused, and all that it wakes
// is woken.
func TestHooksOfClose(t *testing.T) {
	h := newHooked(poolswap.Options[table]{})
	h.onReset(func(*table) bool { return false })
	c := poolswap.NewContainer(h.Pool, &table{})
	changed := c.Changed(c.Version())
	h.onDiscard(func(*table) {
		select {
		case <-changed:
		default:
			t.Error("the channel of Changed is open")
		}
		if obj, err := h.TryGet(); obj != nil || err != poolswap.ErrClosed {
			t.Errorf("TryGet returned %p, %v", obj, err)
		}
		pooltest.WantPanic(t, "poolswap: NewContainer with a closed Pool", func() { poolswap.NewContainer(h.Pool, nil) })
	})
	if err := h.Close(t.Context()); err != nil || h.discarded.Load() != 1 {
		t.Errorf("Close returned %v and discarded %d objects, want nil and 1", err, h.discarded.Load())
	}
}

func TestPoolCloseWaitsForFactoriesAndHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		slow := func() {
			running.Add(1)
			time.Sleep(time.Minute)
			running.Add(-1)
		}
		pool := poolswap.NewPoolWithOptions(
			func() *table { slow(); return new(table) },
			func(*table) bool { slow(); return true },
			poolswap.Options[table]{Discard: func(*table) { slow() }})
		for range 2 {
			go func() {
				if obj, err := pool.TryGet(); err == nil {
					pool.Release(obj)
				}
			}()
		}
		synctest.Wait()
		if running.Load() != 2 {
			t.Fatalf("%d factories run", running.Load())
		}
		if err := pool.Close(t.Context()); err != nil || running.Load() != 0 {
			t.Errorf("Close returned %v while %d hooks run", err, running.Load())
		}
		if s := pool.Stats(); s.Live != 0 || s.Discarded != 2 {
			t.Errorf("%+v", s)
		}
		synctest.Wait()
	})
}

func TestPoolCloseSkipsDroppedContainer(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	func() { poolswap.NewContainer(pool, &table{}) }()
	kept := poolswap.NewContainer(pool, &table{})
	runtime.GC()
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if kept.Acquire() != nil {
		t.Error("a container that exists is not closed")
	}
}

func TestCloseReportsOverRelease(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	c.Release(c.Acquire())
	c.Release(current(c))
	private := c.GetNew()
	if err := c.Close(t.Context()); !errors.Is(err, poolswap.ErrOverReleased) {
		t.Errorf("Close returned %v", err)
	}
	c.Release(private)
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("a second Close returned %v", err)
	}

	// Of a pool: that of each container, also where the wait fails.
	pool := newTablePool(poolswap.Options[table]{})
	for range 2 {
		d := poolswap.NewContainer(pool, &table{})
		d.Release(d.Acquire())
		d.Release(current(d))
		defer d.Acquire() // keep it
	}
	private = pool.Get()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := pool.Close(ended)
	if !errors.Is(err, poolswap.ErrOverReleased) || strings.Count(err.Error(), "more often than it was acquired") != 2 {
		t.Errorf("Close of the pool returned %v", err)
	}
	if held := wantHeld(t, err, context.Canceled); held.Private != 1 {
		t.Errorf("%+v", held)
	}
	pool.Release(private)
	if err := pool.Close(t.Context()); err != nil {
		t.Errorf("a second Close of the pool returned %v", err)
	}
}
