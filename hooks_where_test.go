package poolswap_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestHooksNeverRunOnReader lets readers be the last holders of many objects
// and looks on which goroutines the hooks ran.
func TestHooksNeverRunOnReader(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		var ran sync.Map // numbers of goroutines
		h.onReset(func(obj *table) bool {
			ran.Store(pooltest.Goroutine(), "reset")
			return obj.value%2 == 0
		})
		h.onDiscard(func(*table) { ran.Store(pooltest.Goroutine(), "discard") })

		c := poolswap.NewContainer(h.Pool, &table{})
		for round := range 40 {
			readers := []func(){
				func() { c.Release(c.Acquire()) },
				func() { c.WithAcquire(func(*table) {}) },
				func() { r := c.NewReader(); r.Load(); r.Close() },
			}
			read := readers[round%len(readers)]
			old := c.Acquire() // held over the update, so that the reader below drains it
			c.Update(&table{value: round})
			for _, reader := range []func(){read, func() { c.Release(old) }, read} {
				id, panicked := pooltest.OnAnother(reader)
				if panicked != nil {
					t.Fatal(panicked)
				}
				if hook, ok := ran.Load(id); ok {
					t.Fatalf("round %d: the %s hook ran on a reader", round, hook)
				}
			}
		}
		pooltest.Settled(t, h.Pool, 0)
		if h.resets.Load() != 40 || h.discarded.Load() == 0 {
			t.Errorf("%d resets and %d discards: the test saw too little", h.resets.Load(), h.discarded.Load())
		}
		if _, ok := ran.Load(pooltest.Goroutine()); ok {
			t.Error("a hook ran on the goroutine whose updates drained nothing")
		}
	})
}

// TestHooksRunOnDrainingWriter is the other half: a writer that drains an object
// resets it itself, before Update returns.
func TestHooksRunOnDrainingWriter(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		var where string
		h.onReset(func(*table) bool { where = pooltest.Goroutine(); return true })
		c := poolswap.NewContainer(h.Pool, &table{})
		c.Update(&table{})
		if here := pooltest.Goroutine(); where != here {
			t.Errorf("reset ran on goroutine %q, Update on %q", where, here)
		}
	})
}

// TestHooksRunWithNoLockHeld calls everything that takes a lock from inside each
// function of the user. If the pool held a lock there, the test would hang.
func TestHooksRunWithNoLockHeld(t *testing.T) {
	const reader, writer = "a reader releases last", "a writer releases"
	for _, test := range []struct{ hook, when string }{
		{"factory", writer},
		{"reset", writer},
		{"reset", reader},
		{"discard", writer},
		{"discard", reader},
		{"report", reader},
	} {
		t.Run(test.hook+" when "+test.when, func(t *testing.T) {
			pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
				var pool *poolswap.Pool[table, *table]
				var c *poolswap.Container[table, *table]
				var armed atomic.Bool
				var returned atomic.Int32
				useEverything := func(hook string) {
					if hook != test.hook || !armed.CompareAndSwap(true, false) {
						return
					}
					pool.Stats()
					obj := c.GetNew()
					pool.Refs(obj)
					pool.Release(obj)
					old := c.Acquire()
					c.Update(c.GetNew())
					c.Release(old)
					pool.Trim()
					returned.Add(1)
				}
				options.Spares = 1
				options.Discard = func(*table) { useEverything("discard") }
				options.Report = func(error) { useEverything("report") }
				pool = poolswap.NewPoolWithOptions(
					func() *table { useEverything("factory"); return new(table) },
					func(obj *table) bool {
						useEverything("reset")
						if obj.value == 13 {
							panic(errHook)
						}
						return true
					}, options)
				c = poolswap.NewContainer(pool, &table{})
				if test.hook == "report" {
					c.Update(&table{value: 13})
				}
				if test.hook != "factory" {
					pool.Release(pool.Get()) // the only spare, so the next free object is discarded
				}

				armed.Store(true)
				if test.when == writer {
					first, second := c.GetNew(), c.GetNew()
					c.Release(first)
					c.Release(second)
				} else {
					old := c.Acquire()
					c.Update(&table{})
					c.Release(old) // reset runs on the sweeper
				}
				pooltest.Eventually(t, "the hook was called and returned", func() bool { return returned.Load() == 1 })
				pooltest.Settled(t, pool, 0)
			})
		})
	}
}

// TestSweeperOutlivesReport: a Report that panics or ends its goroutine does not stop
// the resets of other objects.
func TestSweeperOutlivesReport(t *testing.T) {
	for _, report := range []struct {
		name string
		run  func(swept <-chan bool)
	}{
		{"Report waits for the next reset", func(swept <-chan bool) { <-swept }},
		{"Report calls Goexit", func(<-chan bool) { runtime.Goexit() }},
	} {
		t.Run(report.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const bad, good = 1, 2
				queued, swept := make(chan bool), make(chan bool)
				pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(obj *table) bool {
					if obj.value == bad {
						<-queued
						panic(errHook)
					}
					close(swept)
					return true
				}, poolswap.Options[table]{Report: func(error) { report.run(swept) }})
				c := poolswap.NewContainer(pool, &table{value: bad})
				first := c.Acquire()
				c.Update(&table{value: good})
				second := c.Acquire()
				c.Update(nil)
				c.Release(first)
				synctest.Wait() // until its reset, on the sweeper, waits
				c.Release(second)
				close(queued)
				if err := pool.Drain(withTimeout(t, time.Minute)); err != nil {
					close(swept) // for Report
					t.Fatal(err)
				}
				if s := pool.Stats(); s.Lost != 1 || s.Spares != 1 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// TestObjectIsFreeDuringReset gives an object back from inside its own reset. Release
// must refuse it like any object in the pool.
func TestObjectIsFreeDuringReset(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		var refused []string
		h.onReset(func(obj *table) bool {
			for _, call := range []func(){
				func() { h.Release(obj) },
				func() { poolswap.NewEmptyContainer(h.Pool).Update(obj) },
			} {
				func() {
					defer func() { refused = append(refused, recover().(string)) }()
					call()
				}()
			}
			return true
		})
		c := poolswap.NewContainer(h.Pool, &table{})
		c.Update(nil)         // resets on the writer that drains,
		h.Release(c.GetNew()) // on the owner who gives back,
		c.Update(c.GetNew())  //
		old := c.Acquire()    //
		c.Update(nil)         //
		c.Release(old)        // and on the sweeper
		s := pooltest.Settled(t, h.Pool, 0)
		if s.Spares != 1 || s.Live != 1 {
			t.Errorf("%+v", s)
		}
		if len(refused) != 6 {
			t.Fatalf("%d refusals, want 6: %q", len(refused), refused)
		}
		for _, text := range refused {
			if !strings.Contains(text, " that is in the pool (released ") {
				t.Errorf("refused with %s", text)
			}
		}
	})
}

// TestDiscardRunsOncePerObject makes objects leave in every way and counts the calls
// by object.
func TestDiscardRunsOncePerObject(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		calls := map[*table]int{}
		var mu sync.Mutex
		h.onDiscard(func(obj *table) {
			mu.Lock()
			defer mu.Unlock()
			calls[obj]++
		})
		h.onReset(func(obj *table) bool { return obj.value != 1 })

		c := poolswap.NewEmptyContainer(h.Pool)
		var held, made []*table
		for value := range 12 {
			obj := &table{value: value % 3} // every third is refused by reset
			made = append(made, obj)
			c.Update(obj)
			if value%2 == 0 { // every other one is drained by a reader
				held = append(held, c.Acquire())
			}
		}
		c.Update(nil)
		for _, obj := range held {
			c.Release(obj)
		}
		pooltest.Settled(t, h.Pool, 0)
		h.Trim()
		if s := h.Stats(); s.Live != 0 || s.Discarded != 12 {
			t.Errorf("%+v", s)
		}
		pooltest.Eventually(t, "the hook has run for the last of them", func() bool { return h.discarded.Load() >= 12 })
		mu.Lock()
		defer mu.Unlock()
		for i, obj := range made {
			if calls[obj] != 1 {
				t.Errorf("object %d was discarded %d times", i, calls[obj])
			}
		}
	})
}
