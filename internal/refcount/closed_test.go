package refcount_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// endedContext returns a Context that has ended.
func endedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestPublishInAClosedContainerTakesNoObject: neither the factory nor reset run
// for a publication that cannot be.
func TestPublishInAClosedContainerTakesNoObject(t *testing.T) {
	made := 0
	pool := poolswap.NewPool(func() *table { made++; return new(table) }, nil)
	c := poolswap.NewEmptyContainer(pool)
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	version, err := c.Publish(t.Context(), func(_, _ *table) error { panic("fill was called") })
	if version != 0 || !errors.Is(err, poolswap.ErrClosed) || made != 0 {
		t.Errorf("Publish returned %d and %v and made %d objects, want ErrClosed and none", version, err, made)
	}
}

// TestPublishInAClosedContainerAtTheLimitSaysClosed: the limit is no matter of a
// publication that cannot be.
func TestPublishInAClosedContainerAtTheLimitSaysClosed(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{MaxLive: 1})
	poolswap.NewContainer(pool, pool.Get())
	c := poolswap.NewEmptyContainer(pool)
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	version, err := c.Publish(t.Context(), func(_, _ *table) error { panic("fill was called") })
	if version != 0 || !errors.Is(err, poolswap.ErrClosed) {
		t.Errorf("Publish returned %d and %v, want ErrClosed", version, err)
	}
}

// TestAClosedPoolDiscardsWhatComesBack: no object goes where only the garbage
// collector removes it.
func TestAClosedPoolDiscardsWhatComesBack(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	obj := pool.Get()
	held := new(poolswap.HeldError)
	if err := pool.Close(endedContext()); !errors.As(err, &held) || held.Private != 1 {
		t.Fatalf("Close with an object in hand returned %v", err)
	}
	pool.Release(obj)
	if s := pool.Stats(); s.Discarded != 1 || s.Live != 0 {
		t.Errorf("an object came back to a closed pool: %d discarded, %d live", s.Discarded, s.Live)
	}
}

// TestGetFromAPoolThatClosesDuringItsReset: Get returns no object, and the one
// that it was resetting is discarded, for which Close waits.
func TestGetFromAPoolThatClosesDuringItsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bySweeper, byGet = 1, 2
		sweeping, swept := make(chan bool), make(chan bool)
		var pool *poolswap.Pool[table, *table]
		pool = poolswap.NewPool(func() *table { return new(table) }, func(obj *table) bool {
			switch obj.value {
			case bySweeper:
				close(sweeping)
				<-swept
			case byGet:
				if err := pool.Close(endedContext()); err == nil {
					t.Error("Close did not wait for two objects that are being reset")
				}
			}
			return true
		})
		c := poolswap.NewContainer(pool, &table{value: bySweeper})
		first := c.Acquire()
		c.Update(&table{value: byGet})
		second := c.Acquire()
		c.Update(nil)
		c.Release(first)
		<-sweeping
		c.Release(second) // awaits its reset
		if obj, err := pool.TryGet(); obj != nil || err != poolswap.ErrClosed {
			t.Errorf("TryGet returned %p, %v, want nil and ErrClosed", obj, err)
		}
		close(swept)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := pool.Close(ctx); err != nil {
			t.Error(err)
		}
		if s := pool.Stats(); s.Live != 0 || s.Discarded != 2 {
			t.Errorf("%d live, %d discarded, want 0 and 2", s.Live, s.Discarded)
		}
	})
}

// TestAPoolThatIsBeingClosedHandsOutNothing, not even a spare that it still has.
func TestAPoolThatIsBeingClosedHandsOutNothing(t *testing.T) {
	var pool *poolswap.Pool[table, *table]
	discarded := 0
	pool = poolswap.NewPoolWithOptions(func() *table { return new(table) }, nil, poolswap.Options[table]{Discard: func(*table) {
		discarded++
		if obj, err := pool.TryGet(); obj != nil || err != poolswap.ErrClosed {
			t.Errorf("in Discard number %d TryGet returned %p, %v", discarded, obj, err)
		}
	}})
	first, second := pool.Get(), pool.Get()
	pool.Release(first)
	pool.Release(second)
	if err := pool.Close(endedContext()); err != nil || discarded != 2 {
		t.Errorf("Close returned %v and discarded %d objects, want nil and 2", err, discarded)
	}
}

// TestCloseDoesNotWaitForALostObject, which a reader holds for good.
func TestCloseDoesNotWaitForALostObject(t *testing.T) {
	pool := poolswap.NewPool(func() *table { return new(table) }, func(*table) bool { panic("reset") })
	c := poolswap.NewContainer(pool, &table{})
	lost := c.Acquire()
	c.Release(lost)
	pooltest.PanicOf(t, func() { c.Update(nil) })
	if err := c.Close(endedContext()); err != nil {
		t.Errorf("Close of the container: %v", err)
	}
	if err := pool.Close(endedContext()); err != nil {
		t.Errorf("Close of the pool: %v", err)
	}
	runtime.KeepAlive(lost) // the collector would settle it
}

// TestPublishAtTheLimitDoesNotCountLostObjects: a lost object counts towards no
// limit, so Publish does not wait for it.
func TestPublishAtTheLimitDoesNotCountLostObjects(t *testing.T) {
	pool := poolswap.NewPoolWithOptions(
		func() *table { return new(table) },
		func(*table) bool { panic("reset") },
		poolswap.Options[table]{MaxLive: 1})
	c := poolswap.NewContainer(pool, pool.Get())
	lost := c.Acquire() // keeps the object from the collector
	c.Release(lost)
	func() {
		defer func() { _ = recover() }()
		c.Update(nil)
	}()
	c.Update(pool.Get())
	_, err := c.Publish(t.Context(), func(_, _ *table) error { panic("fill was called") })
	held := new(poolswap.HeldError)
	if !errors.As(err, &held) || held.Objects != 0 || held.Current != 1 {
		t.Errorf("Publish returned %v, want a HeldError with one current object and no other", err)
	}
	pool.Refs(lost)
}
