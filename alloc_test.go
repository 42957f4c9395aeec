//go:build !race

package poolswap_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// noAllocs fails the test if a call of fn allocates, on any goroutine. The
// first calls do not count: they fill the free lists.
func noAllocs(t *testing.T, fn func()) {
	t.Helper()
	for range 10 {
		fn()
	}
	if allocs := testing.AllocsPerRun(1000, fn); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestNothingAllocatesInSteadyState(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})

		t.Run("Acquire and Release", func(t *testing.T) {
			noAllocs(t, func() { c.Release(c.Acquire()) })
		})
		t.Run("WithAcquire with a closure that captures", func(t *testing.T) {
			sum, times := 0, 3
			noAllocs(t, func() { c.WithAcquire(func(obj *table) { sum += times * obj.value }) })
			if sum == 0 {
				t.Error("the closure did not run")
			}
		})
		t.Run("Load of an object that the Reader holds", func(t *testing.T) {
			r := c.NewReader()
			defer r.Close()
			noAllocs(t, func() { r.Load() })
		})
		t.Run("Load after Park", func(t *testing.T) {
			r := c.NewReader()
			defer r.Close()
			noAllocs(t, func() { r.Load(); r.Park() })
		})
		t.Run("a cycle of Get, fill, Update and Release", func(t *testing.T) {
			noAllocs(t, func() {
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				c.Release(c.Acquire())
			})
		})
		t.Run("a cycle that a reader drains and the sweeper finishes", func(t *testing.T) {
			before := pool.Stats()
			noAllocs(t, func() {
				old := c.Acquire()
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				c.Release(old)
				for pool.Stats().Spares == 0 {
					runtime.Gosched()
				}
			})
			if after := pool.Stats(); after.SlowChecks-before.SlowChecks < 1000 {
				t.Errorf("readers drained %d objects", after.SlowChecks-before.SlowChecks)
			}
		})
		t.Run("a cycle that a Reader's Load drains", func(t *testing.T) {
			r := c.NewReader()
			defer r.Close()
			noAllocs(t, func() {
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				r.Load()
				for pool.Stats().Spares == 0 {
					runtime.Gosched()
				}
			})
		})
		t.Run("Get and Release of an unpublished object", func(t *testing.T) {
			noAllocs(t, func() { c.Release(c.GetNew()) })
		})
		t.Run("Refs and Stats", func(t *testing.T) {
			obj := c.Acquire()
			defer c.Release(obj)
			noAllocs(t, func() { pool.Refs(obj); pool.Stats() })
		})
	})
}
