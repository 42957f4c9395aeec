//go:build !race

package poolswap_test

import (
	"context"
	"io"
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

func TestSteadyStateAllocations(t *testing.T) {
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
		t.Run("Publish without a waiter", func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			times := 3
			noAllocs(t, func() {
				_, err := c.Publish(ctx, func(next, current *table) error {
					next.value = current.value + times
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		})
		t.Run("Publish that fails", func(t *testing.T) {
			noAllocs(t, func() { c.Publish(t.Context(), func(next, current *table) error { return io.EOF }) })
		})
		t.Run("Version, VersionOf, Retain, and Wait and Changed for a version that is there", func(t *testing.T) {
			noAllocs(t, func() {
				obj := c.Acquire()
				c.Release(c.Retain(obj))
				if c.VersionOf(obj) != c.Version() {
					t.Error("the versions differ")
				}
				c.Release(obj)
				c.Wait(t.Context(), 0)
				c.Changed(0)
			})
		})
		t.Run("Drain with nothing to wait for", func(t *testing.T) {
			noAllocs(t, func() { pool.Drain(t.Context()) })
		})
		t.Run("Get and Release of an unpublished object", func(t *testing.T) {
			noAllocs(t, func() { c.Release(c.GetNew()) })
		})
		t.Run("Refs", func(t *testing.T) {
			obj := c.Acquire()
			defer c.Release(obj)
			noAllocs(t, func() { pool.Refs(obj) })
		})
		t.Run("Stats, except the lists of containers and of versions", func(t *testing.T) {
			if allocs := testing.AllocsPerRun(1000, func() { pool.Stats() }); allocs > 2 {
				t.Errorf("%v allocations", allocs)
			}
		})
	})
}
