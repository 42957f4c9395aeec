package poolswap_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestMaxLiveBoundsObjects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.MaxLive = 3
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, pool.Get())
		var held []*table
		for range 2 { // readers hold two old objects; the third is current
			held = append(held, c.Acquire())
			c.Update(c.GetNew())
		}
		before := pool.Stats()
		if obj, err := pool.TryGet(); obj != nil || !errors.Is(err, poolswap.ErrLimit) {
			t.Errorf("TryGet at the limit returned %p, %v", obj, err)
		}
		const want = "poolswap: Get from the pool of *poolswap_test.table: 3 objects are live, as many as Options.MaxLive allows, and none is free: 1 are current, 2 were replaced and are held by readers, 0 are being reset or discarded (MaxLive too small, or a forgotten Release? TryGet returns an error instead)"
		pooltest.WantPanic(t, want, func() { pool.Get() })
		pooltest.WantPanic(t, want, func() { c.GetNew() })
		if after := pool.Stats(); !pooltest.Same(after, before) {
			t.Errorf("the refused calls changed the stats from %+v to %+v", before, after)
		}

		c.Release(held[0])
		pooltest.Settled(t, pool, 0) // the sweeper may have it in hand
		obj, err := pool.TryGet()
		if obj != held[0] || err != nil {
			t.Errorf("after a release TryGet returned %p, %v, want %p", obj, err, held[0])
		}
		c.Update(obj)
		c.Release(held[1])
		if s := pooltest.Settled(t, pool, 0); s.Live != 3 || s.Created != 3 || s.Spares != 2 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

func TestObjectIsLiveUntilDiscardReturns(t *testing.T) {
	for _, end := range []struct {
		name string
		end  func()
	}{{"returns", func() {}}, {"panics", func() { panic(errHook) }}} {
		t.Run("Discard "+end.name, func(t *testing.T) {
			h := newHooked(poolswap.Options[table]{MaxLive: 1, Spares: poolswap.NoSpares})
			h.onDiscard(func(*table) {
				if _, err := h.TryGet(); err != poolswap.ErrLimit {
					t.Errorf("TryGet while the only object is being discarded: %v", err)
				}
				if s := h.Stats(); s.Resetting != 1 || s.Live != 1 {
					t.Errorf("in Discard: %+v", s)
				}
				end.end()
			})
			pooltest.OnAnother(func() { h.Release(h.Get()) })
			if n := h.discarded.Load(); n != 1 {
				t.Fatalf("%d objects were discarded", n)
			}
			if _, err := h.TryGet(); err != nil {
				t.Errorf("TryGet afterwards: %v", err)
			}
		})
	}
}

func TestObjectIsLiveDuringReset(t *testing.T) {
	h := newHooked(poolswap.Options[table]{MaxLive: 1})
	h.onReset(func(*table) bool {
		if _, err := h.TryGet(); err != poolswap.ErrLimit {
			t.Errorf("TryGet while the only object is being reset: %v", err)
		}
		if s := h.Stats(); s.Resetting != 1 || s.Live != 1 {
			t.Errorf("in reset: %+v", s)
		}
		return true
	})
	h.Release(h.Get())
	if s := h.Stats(); s.Resetting != 0 || s.Spares != 1 || h.resets.Load() != 1 {
		t.Errorf("after reset: %+v", s)
	}
}

func TestMaxLiveNeverRefusesUpdate(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{MaxLive: 1})
	c := poolswap.NewContainer(pool, &table{value: 1})
	first := c.Acquire()
	c.Update(&table{value: 2})
	second := c.Acquire()
	c.Update(&table{value: 3})
	if s := pool.Stats(); s.Live != 3 {
		t.Errorf("with three literals: %+v", s)
	}
	if _, err := pool.TryGet(); err != poolswap.ErrLimit {
		t.Errorf("TryGet above the limit: %v", err)
	}
	c.Release(first)
	c.Release(second)
	pooltest.Settled(t, pool, 0)
}

func TestMaxLiveDiscardsBeyondSpares(t *testing.T) {
	// Objects in the overflow would count as live until a collection, but Get
	// might not find them.
	pool := newTablePool(poolswap.Options[table]{MaxLive: 6, Spares: 1})
	var objs []*table
	for range 6 {
		objs = append(objs, pool.Get())
	}
	for _, obj := range objs {
		pool.Release(obj)
	}
	if s := pool.Stats(); s.Live != 1 || s.Spares != 1 || s.Discarded != 5 {
		t.Errorf("%+v", s)
	}
	for range 6 {
		if _, err := pool.TryGet(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPublishWaitsAtLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
		c := poolswap.NewContainer(pool, &table{})
		first := c.Version()
		held := c.Acquire()
		publish(t, c, set(1))
		_, err := c.Publish(withTimeout(t, time.Second), set(2))
		e := wantHeld(t, err, context.DeadlineExceeded)
		if !errors.Is(err, poolswap.ErrLimit) || e.Op != "Publish" || e.Objects != 1 || e.References != 1 || e.Current != 1 || !slices.Equal(e.Versions, []uint64{first}) {
			t.Errorf("%+v", e)
		}
		begun := time.Now()
		time.AfterFunc(time.Minute, func() { c.Release(held) })
		if v := publish(t, c, set(2)); v == 0 || time.Since(begun) != time.Minute {
			t.Errorf("Publish returned after %v", time.Since(begun))
		}

		// With all objects current, no wait can help.
		pooltest.Settled(t, pool, 0)
		other := poolswap.NewEmptyContainer(pool)
		private := pool.Get()
		time.AfterFunc(time.Hour, func() { other.Update(private) })
		begun = time.Now()
		_, err = c.Publish(t.Context(), set(3))
		e = wantHeld(t, err, poolswap.ErrLimit)
		if e.Current != 2 || e.Objects != 0 || time.Since(begun) != time.Hour {
			t.Errorf("%+v after %v", e, time.Since(begun))
		}
		const want = "poolswap: Publish: as many objects exist as Options.MaxLive allows, and none is free; current: 2 [*poolswap_test.table]"
		if e.Error() != want {
			t.Errorf("text\n got: %s\nwant: %s", e, want)
		}

		// Close ends one that waits.
		held = c.Acquire()
		other.Update(nil)
		publish(t, c, set(4))
		time.AfterFunc(time.Second, func() { c.Close(withTimeout(t, time.Second)) })
		if _, err := c.Publish(t.Context(), set(5)); err != poolswap.ErrClosed {
			t.Errorf("Publish that Close ends: %v", err)
		}
		c.Release(held)
	})
}

// TestPublishAboveLimit: literals can make more objects than MaxLive. Where all of
// them are current, no wait can help. One that was discarded is in no one's way.
func TestPublishAboveLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{MaxLive: 1, Spares: poolswap.NoSpares})
		literal := &table{}
		c, other := poolswap.NewContainer(pool, &table{}), poolswap.NewContainer(pool, literal)
		for _, current := range []int{2, 1} {
			_, err := c.Publish(withTimeout(t, time.Minute), set(1))
			e := wantHeld(t, err, poolswap.ErrLimit)
			if e.Current != current || e.Resetting != 0 || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v, want ErrLimit at once with %d objects current", e, current)
			}
			other.Update(nil)
		}
		runtime.KeepAlive(literal)
	})
}

// lateContext has ended for Err, and not yet for Done: a cancel sets the error first.
type lateContext struct {
	context.Context
	ended atomic.Bool
}

func (c *lateContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// TestPublishAtLimitSeesEndedContext although an object has come back by then.
func TestPublishAtLimitSeesEndedContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
		c := poolswap.NewContainer(pool, &table{})
		held := c.Acquire()
		publish(t, c, set(1))
		ctx := &lateContext{Context: t.Context()}
		time.AfterFunc(time.Second, func() {
			ctx.ended.Store(true)
			c.Release(held)
		})
		v, err := c.Publish(ctx, set(2))
		wantHeld(t, err, context.Canceled)
		if !errors.Is(err, poolswap.ErrLimit) || v != 0 {
			t.Errorf("Publish returned %d, %v", v, err)
		}
	})
}

// TestLostObjectWakesPublishAtLimit: an object that is lost to an over-release makes
// room for another.
func TestLostObjectWakesPublishAtLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reports pooltest.Reports
		pool := newTablePool(poolswap.Options[table]{MaxLive: 3, Report: reports.Report})
		c, other := poolswap.NewContainer(pool, &table{}), poolswap.NewContainer(pool, &table{})
		private := pool.Get() // else all are current, and no wait can help
		over := current(other)
		other.Release(over)
		begun := time.Now()
		time.AfterFunc(time.Second, func() { other.Update(nil) })
		if _, err := c.Publish(withTimeout(t, time.Minute), set(1)); err != nil || time.Since(begun) != time.Second {
			t.Errorf("Publish returned %v after %v, want nil after a second", err, time.Since(begun))
		}
		synctest.Wait() // for the Report, which comes after the loss
		if s := pool.Stats(); s.Lost != 1 || len(reports.All()) != 1 {
			t.Errorf("%d lost; reported: %s", s.Lost, reports.String())
		}
		pool.Release(private)
	})
}

// TestLiveObjectsAtAnyGOMAXPROCS runs one writer and four readers that release
// promptly, for 3,000 updates.
//
// Readers in step release before the next update. Then the factory makes at
// most 3 objects. Every step waits for the previous one, so a suspended thread
// cannot make a reader hold its object longer.
//
// Readers that run freely may be suspended while they hold an object, which is
// live as long. After they stop and every reset is done, only the current object
// and the spares are live. The discard hook disables the overflow, where objects
// would be live until a collection.
func TestLiveObjectsAtAnyGOMAXPROCS(t *testing.T) {
	const updates, most = 3000, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 16} {
		runtime.GOMAXPROCS(procs)
		pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
			t.Run(fmt.Sprintf("GOMAXPROCS %d, readers in step", procs), func(t *testing.T) {
				pool := newCounting(options)
				c := poolswap.NewContainer(pool.Pool, pool.Get())
				readers := startSteppedReaders(c, 4)
				defer readers.stop()
				for range updates {
					readers.step() // each acquires
					c.Update(c.GetNew())
					readers.step() // each releases
					if s := pooltest.Settled(t, pool.Pool, 0); s.Live > most {
						t.Fatalf("%d objects are live: %+v", s.Live, s)
					}
				}
				if s := pool.Stats(); pool.made > most || s.Drained != updates || s.Reads.SlowChecks != 4*updates {
					t.Errorf("%d objects were made, %+v", pool.made, s)
				}
			})
			t.Run(fmt.Sprintf("GOMAXPROCS %d, readers running freely", procs), func(t *testing.T) {
				options.Discard = func(*table) {}
				pool := newCounting(options)
				c := poolswap.NewContainer(pool.Pool, pool.Get())
				var readers sync.WaitGroup
				done := make(chan struct{})
				for range 4 {
					readers.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
								c.WithAcquire(func(*table) {})
								runtime.Gosched() // with one P the writer would wait long for its turn
							}
						}
					})
				}
				for range updates {
					c.Update(c.GetNew())
					runtime.Gosched()
				}
				close(done)
				readers.Wait()
				if s := pooltest.Settled(t, pool.Pool, 0); s.Live > most || s.Updates != updates+1 {
					t.Errorf("%d objects are live: %+v", s.Live, s)
				}
			})
		})
	}
}

// steppedReaders are goroutines that acquire at one step and release at the
// next.
type steppedReaders struct {
	start, done []chan struct{}
}

func startSteppedReaders(c *poolswap.Container[table, *table], n int) *steppedReaders {
	r := &steppedReaders{}
	for range n {
		start, done := make(chan struct{}), make(chan struct{})
		r.start, r.done = append(r.start, start), append(r.done, done)
		go func() {
			var held *table
			for range start {
				if held == nil {
					held = c.Acquire()
				} else {
					c.Release(held)
					held = nil
				}
				done <- struct{}{}
			}
		}()
	}
	return r
}

// step starts a step of all readers at once and waits until all are done.
func (r *steppedReaders) step() {
	for _, start := range r.start {
		start <- struct{}{}
	}
	for _, done := range r.done {
		<-done
	}
}

func (r *steppedReaders) stop() {
	for _, start := range r.start {
		close(start)
	}
}
