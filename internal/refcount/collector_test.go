package refcount_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestTheRegistryForgetsCollectedObjects: else each adopted object would leave
// an entry and its counters behind.
func TestTheRegistryForgetsCollectedObjects(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{Spares: poolswap.NoSpares})
	c := poolswap.NewEmptyContainer(pool)
	for range 100 {
		c.Update(&table{value: 1})
	}
	c.Update(nil)
	pooltest.Eventually(t, "the registry is empty", func() bool {
		runtime.GC()
		return poolOf(pool).Registered() == 0
	})
	c.Update(&table{value: 1})
	if n := poolOf(pool).Registered(); n != 1 {
		t.Errorf("%d objects are registered, want the current one", n)
	}
	runtime.KeepAlive(c)
}

// TestDiscardMayBringTheObjectBack: the object is discarded before Discard
// runs, which may publish it again.
func TestDiscardMayBringTheObjectBack(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		var c *poolswap.Container[table, *table]
		options.Spares = poolswap.NoSpares
		options.Discard = func(obj *table) {
			obj.value = 7
			c.Update(obj)
		}
		pool := newTablePool(options)
		c = poolswap.NewEmptyContainer(pool)
		obj := pool.Get()
		pool.Release(obj)
		c.WithAcquire(func(got *table) {
			if got != obj || got.value != 7 {
				t.Errorf("the container serves %p, want %p", got, obj)
			}
		})
		if s := pool.Stats(); s.Discarded != 1 || s.Adopted != 1 || s.Current != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestDrainWaitsForAnObjectRepublishedInItsDiscard: Discard brings the object
// back, and a reader holds it when it is replaced. That Discard returns does not
// end this second way out.
func TestDrainWaitsForAnObjectRepublishedInItsDiscard(t *testing.T) {
	var c *poolswap.Container[table, *table]
	var held *table
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, nil, poolswap.Options[table]{
		Spares: poolswap.NoSpares,
		Discard: func(obj *table) {
			if held == nil {
				c.Update(obj)
				held = c.Acquire()
				c.Update(nil)
			}
		},
	})
	c = poolswap.NewEmptyContainer(pool)
	pool.Release(pool.Get())
	var e *poolswap.HeldError
	if err := pool.Drain(endedContext()); !errors.As(err, &e) || e.Objects != 1 || e.References != 1 {
		t.Errorf("while a reader holds the object, Drain returned %v", err)
	}
	c.Release(held)
	if err := pool.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestThePoolForgetsDroppedContainers: a container for each request costs
// nothing after it.
func TestThePoolForgetsDroppedContainers(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	kept := poolswap.NewEmptyContainer(pool)
	for range 100 {
		poolswap.NewEmptyContainer(pool)
	}
	pooltest.Eventually(t, "the pool forgets the containers that the collector took", func() bool {
		runtime.GC()
		return poolOf(pool).Containers() == 1
	})
	runtime.KeepAlive(kept)
}

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

// TestNoSignalIsLeftBehind: a signal that nothing waits for could be fired by a
// cleanup of the runtime, outside of the bubble that it was made in.
func TestNoSignalIsLeftBehind(t *testing.T) {
	for _, wait := range []struct {
		name string
		wait func(ctx context.Context, pool *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error
	}{
		{"Publish", func(ctx context.Context, _ *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error {
			_, err := c.Publish(ctx, func(*table, *table) error { return nil })
			return err
		}},
		{"Drain", func(ctx context.Context, pool *poolswap.Pool[table, *table], _ *poolswap.Container[table, *table]) error {
			return pool.Drain(ctx)
		}},
		{"Wait", func(ctx context.Context, _ *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) error {
			_, err := c.Wait(ctx, c.Version())
			return err
		}},
		{"Close", func(ctx context.Context, pool *poolswap.Pool[table, *table], _ *poolswap.Container[table, *table]) error {
			return pool.Close(ctx)
		}},
	} {
		t.Run(wait.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
				c := poolswap.NewContainer(pool, &table{})
				held := c.Acquire()
				c.Update(c.GetNew())
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := wait.wait(ctx, pool, c); err == nil {
					t.Error("it did not wait")
				}
				if poolOf(pool).SignalLeft() || slotOf(c).SignalLeft() {
					t.Error("its signal is left")
				}
				c.Release(held)
			})
		})
	}
}

// TestTheCollectorWakesNothingForAFreeObject: nothing waits for one, and a goroutine that waits
// in a bubble must not be woken by a cleanup, which runs outside of it.
func TestTheCollectorWakesNothingForAFreeObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{Spares: 1})
		c := poolswap.NewContainer(pool, &table{})
		held := c.Acquire()
		c.Update(nil)
		drained := make(chan error)
		go func() { drained <- pool.Drain(t.Context()) }()
		synctest.Wait()
		func() {
			spare, surplus := pool.Get(), pool.Get()
			pool.Release(spare)
			pool.Release(surplus) // to the overflow
		}()
		for pool.Stats().Collected == 0 {
			runtime.GC()
		}
		c.Release(held)
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

// TestAWaitThatEndedInABubbleLeavesNothingBehind: to fire its signal outside of the
// bubble would be fatal.
func TestAWaitThatEndedInABubbleLeavesNothingBehind(t *testing.T) {
	c := newTableContainer(poolswap.Options[table]{})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, c.Version()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v", err)
		}
	})
	c.Update(c.GetNew())
}

// TestAWaitThatEndsWakesNoOther: a channel of Changed stays open, and a second Wait
// goes on.
func TestAWaitThatEndsWakesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTableContainer(poolswap.Options[table]{})
		first := c.Version()
		changed := c.Changed(first)
		other := make(chan uint64)
		go func() {
			version, err := c.Wait(t.Context(), first)
			if err != nil {
				t.Error(err)
			}
			other <- version
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Wait(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait returned %v", err)
		}
		select {
		case <-changed:
			t.Error("the channel of Changed is closed, and nothing was published")
		case <-other:
			t.Error("the other Wait returned, and nothing was published")
		default:
		}
		c.Update(c.GetNew())
		<-changed
		if version := <-other; version != c.Version() {
			t.Errorf("Wait returned version %d, and %d is current", version, c.Version())
		}
	})
}
