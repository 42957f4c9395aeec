package refcount_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/stripe"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

var errFence = errors.New("operation not permitted")

// needAsymmetric skips a test that needs membarrier.
func needAsymmetric(t *testing.T) {
	t.Helper()
	if !stripe.Asymmetric() {
		pooltest.Skip(t, "this build or this kernel counts the portable way only")
	}
}

// TestMembarrierStartsToFail lets membarrier fail while plainly counted objects
// are current, held and private.
func TestMembarrierStartsToFail(t *testing.T) {
	needAsymmetric(t)
	var reports pooltest.Reports
	resets := map[*table]int{}
	options := poolswap.Options[table]{Report: reports.Report, Discard: func(*table) {}}
	pool := poolswap.NewPoolWithOptions(
		func() *table { return new(table) },
		func(obj *table) bool { resets[obj]++; obj.value = 0; return true },
		options)
	if mode := pool.Stats().Reads.Counting; mode != "asymmetric" {
		t.Fatalf("before the failure the counting mode is %s", mode)
	}
	current := &table{value: 1}
	c := poolswap.NewContainer(pool, current)
	plain := pool.Get()
	plain.value = 2
	held := c.Acquire()

	defer stripe.FailMembarrier(errFence)()

	// The retired object is abandoned, and its reader is not affected.
	c.Update(plain)
	if s := pool.Stats(); s.Abandoned != 1 || s.Lost != 1 || s.Retired != 0 || s.Live != 1 || s.Reads.Counting != "portable" {
		t.Errorf("after the failure: %+v", s)
	}
	if held.value != 1 {
		t.Error("the abandoned object was recycled under its reader")
	}
	c.Release(held)
	reported := reports.All()
	if len(reported) != 1 || !errors.Is(reported[0], errFence) ||
		!strings.HasPrefix(reported[0].Error(), "poolswap: membarrier failed: a *refcount_test.table is left to the garbage collector") {
		t.Errorf("reported %q", reported)
	}
	pooltest.WantPanic(t, "poolswap: Update of a *refcount_test.table that the pool gave up after misuse, a panic in reset, or a failed fence [generation 0, acquired 1 times, released 1 times]",
		func() { c.Update(held) })

	// The other plain object is abandoned too when it retires. All later objects
	// are portable and are recycled.
	for value := 3; value < 100; value++ {
		obj := c.Acquire()
		if obj.value != value-1 {
			t.Fatalf("the container serves value %d, want %d", obj.value, value-1)
		}
		next := c.GetNew()
		if next == current || next == plain {
			t.Fatal("GetNew returned an abandoned object")
		}
		next.value = value
		c.Update(next)
		c.Release(obj)
		pooltest.Settled(t, pool, 0)
	}
	s := pooltest.Settled(t, pool, 0)
	if s.Abandoned != 2 || s.Lost != 2 || s.Live != 2 || s.Created != 3 || len(reports.All()) != 2 {
		t.Errorf("in the end, after %d reports: %+v", len(reports.All()), s)
	}
	if resets[current]+resets[plain] != 0 {
		t.Errorf("abandoned objects were reset: %d and %d times", resets[current], resets[plain])
	}
}

// TestMembarrierRecovers: objects that retired during the failure stay
// abandoned, and new objects are counted plainly again.
func TestMembarrierRecovers(t *testing.T) {
	needAsymmetric(t)
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	restore := stripe.FailMembarrier(errFence)
	c.Update(&table{value: 2})
	restore()
	drainByReader(c, 10)
	if s := pooltest.Settled(t, pool, 0); s.Abandoned != 1 || s.Retired != 0 || s.Reads.Counting != "asymmetric" {
		t.Errorf("%+v", s)
	}
}

// TestReadersReleaseWhileMembarrierFails releases an object on several
// goroutines while the failure abandons it. No Release may panic because it
// found the object in an unexpected phase.
func TestReadersReleaseWhileMembarrierFails(t *testing.T) {
	needAsymmetric(t)
	for range 200 {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{value: 1})
		held := []*table{c.Acquire(), c.Acquire(), c.Acquire(), c.Acquire()}
		restore := stripe.FailMembarrier(errFence)
		start, done := make(chan struct{}), make(chan any)
		for _, obj := range held {
			go func() {
				<-start
				_, panicked := pooltest.OnAnother(func() { c.Release(obj) })
				done <- panicked
			}()
		}
		close(start)
		c.Update(nil)
		for range held {
			if panicked := <-done; panicked != nil {
				t.Error(panicked)
			}
		}
		restore()
		if s := pooltest.Settled(t, pool, 0); s.Abandoned != 1 || s.Live != 0 || s.Drained != 1 {
			t.Fatalf("%+v", s)
		}
	}
}

// TestPortableCountersNeedNoMembarrier: with Options.Portable a failure of
// membarrier has no effect.
func TestPortableCountersNeedNoMembarrier(t *testing.T) {
	defer stripe.FailMembarrier(errFence)()
	var reports pooltest.Reports
	pool := newTablePool(poolswap.Options[table]{Portable: true, Report: reports.Report})
	c := poolswap.NewContainer(pool, &table{value: 1})
	drainByReader(c, 10)
	if s := pooltest.Settled(t, pool, 0); s.Abandoned != 0 || s.Lost != 0 || s.Drained != 10 || len(reports.All()) != 0 {
		t.Errorf("reported %q, %+v", reports.String(), s)
	}
}
