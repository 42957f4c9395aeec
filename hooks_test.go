package poolswap_test

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// hooked is a pool whose reset and discard hooks are set by the test. It counts
// their calls and collects the reports.
type hooked struct {
	*poolswap.Pool[table, *table]
	reports pooltest.Reports

	reset     atomic.Pointer[func(*table) bool] // nil: clear and keep
	discard   atomic.Pointer[func(*table)]
	resets    atomic.Int64
	discarded atomic.Int64
}

func newHooked(options poolswap.Options[table]) *hooked {
	h := &hooked{}
	options.Discard = func(obj *table) {
		h.discarded.Add(1)
		if discard := h.discard.Load(); discard != nil {
			(*discard)(obj)
		}
	}
	options.Report = h.reports.Report
	h.Pool = poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(obj *table) bool {
		h.resets.Add(1)
		if reset := h.reset.Load(); reset != nil {
			return (*reset)(obj)
		}
		obj.value = 0
		return true
	}, options)
	return h
}

func (h *hooked) onReset(reset func(*table) bool) { h.reset.Store(&reset) }
func (h *hooked) onDiscard(discard func(*table))  { h.discard.Store(&discard) }

var errHook = errors.New("the hook's own")

// badHooks are the ways in which reset and discard can go wrong.
var badHooks = []struct {
	name      string
	set       func(h *hooked)
	panics    any // value of the panic that a caller receives if the hook runs on it
	lost      uint64
	discarded uint64
}{
	{
		name:   "reset panics",
		set:    func(h *hooked) { h.onReset(func(*table) bool { panic(errHook) }) },
		panics: errHook,
		lost:   1,
	},
	{
		name: "reset calls Goexit",
		set:  func(h *hooked) { h.onReset(func(*table) bool { runtime.Goexit(); return true }) },
		lost: 1,
	},
	{
		name:      "reset refuses the object",
		set:       func(h *hooked) { h.onReset(func(*table) bool { return false }) },
		discarded: 1,
	},
	{
		name: "the discard hook panics",
		set: func(h *hooked) {
			h.onReset(func(*table) bool { return false })
			h.onDiscard(func(*table) { panic(errHook) })
		},
		panics:    errHook,
		discarded: 1,
	},
	{
		name: "the discard hook calls Goexit",
		set: func(h *hooked) {
			h.onReset(func(*table) bool { return false })
			h.onDiscard(func(*table) { runtime.Goexit() })
		},
		discarded: 1,
	},
}

// writerPaths are the calls in which a hook runs on a writer. Each prepares a
// container and returns the call; want is the value that the container serves
// after it.
var writerPaths = []struct {
	name string
	call func(t *testing.T, h *hooked, c *poolswap.Container[table, *table]) func()
	want int
}{
	{"in an Update that drains", func(_ *testing.T, h *hooked, c *poolswap.Container[table, *table]) func() {
		next := h.Get()
		next.value = 2
		return func() { c.Update(next) }
	}, 2},
	{"in a Release of an unpublished object", func(_ *testing.T, h *hooked, c *poolswap.Container[table, *table]) func() {
		obj := h.Get()
		return func() { c.Release(obj) }
	}, 1},
	{"in a Get that takes a dirty object", func(t *testing.T, h *hooked, c *poolswap.Container[table, *table]) func() {
		// The sweeper is blocked in the reset of one object, so that the other
		// stays on the dirty list.
		good, swept, resume := h.reset.Load(), make(chan bool), make(chan bool)
		h.onReset(func(*table) bool { close(swept); <-resume; return true })
		first := c.Acquire()
		c.Update(&table{value: 7})
		second := c.Acquire()
		c.Update(&table{value: 1})
		c.Release(first)
		<-swept
		c.Release(second)
		h.reset.Store(good)
		t.Cleanup(func() { close(resume) })
		return func() { h.Release(h.Get()) }
	}, 1},
}

func TestBadHookOnWriter(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, path := range writerPaths {
			for _, bad := range badHooks {
				t.Run(bad.name+" "+path.name, func(t *testing.T) {
					h := newHooked(options)
					c := poolswap.NewContainer(h.Pool, &table{value: 1})
					call := path.call(t, h, c)
					bad.set(h)
					_, panicked := pooltest.OnAnother(call)
					if bad.panics != nil && panicked != bad.panics {
						t.Errorf("the caller received panic %v, want the hook's own", panicked)
					}
					if s := h.Stats(); s.Lost != bad.lost || s.Discarded < bad.discarded {
						t.Errorf("afterwards: %+v", s)
					}
					if reported := h.reports.All(); len(reported) > 0 {
						t.Errorf("the caller received the panic, but it was reported too: %v", reported)
					}
					c.WithAcquire(func(obj *table) {
						if obj.value != path.want {
							t.Errorf("the container serves value %d, want %d", obj.value, path.want)
						}
					})
				})
			}
		}
	})
}

// TestResetPanicLosesObject: the object is in no list, and Update refuses it.
func TestResetPanicLosesObject(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		h.onReset(func(*table) bool { panic(errHook) })
		obj := h.Get()
		pooltest.PanicOf(t, func() { h.Release(obj) })
		c := poolswap.NewEmptyContainer(h.Pool)
		pooltest.WantPanic(t, "poolswap: Update of a *poolswap_test.table that the pool gave up after misuse, a panic in reset, or a failed fence [generation 0, acquired 0 times, released 0 times]",
			func() { c.Update(obj) })
	})
}

func TestBadHookOnSweeper(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, bad := range badHooks {
			t.Run(bad.name, func(t *testing.T) {
				h := newHooked(options)
				c := poolswap.NewContainer(h.Pool, &table{value: 1})
				bad.set(h)

				old := c.Acquire()
				c.Update(&table{value: 2})
				c.Release(old)
				pooltest.Eventually(t, "the sweeper has called the hook", func() bool {
					s := h.Stats()
					return s.Lost == bad.lost && s.Discarded == bad.discarded
				})
				if bad.panics != nil {
					pooltest.Eventually(t, "the panic is reported", func() bool { return len(h.reports.All()) == 1 })
					var hookPanic *poolswap.HookPanicError
					err := h.reports.All()[0]
					if !errors.As(err, &hookPanic) || hookPanic.Value != bad.panics || !errors.Is(err, errHook) || len(hookPanic.Stack) == 0 {
						t.Errorf("reported %v", err)
					}
				}

				// The pool still works, and so does its sweeper.
				h.reset.Store(nil)
				h.discard.Store(nil)
				for value := 3; value < 6; value++ {
					old := c.Acquire()
					if old.value != value-1 {
						t.Fatalf("the container serves value %d, want %d", old.value, value-1)
					}
					c.Update(&table{value: value})
					c.Release(old)
				}
				s := pooltest.Settled(t, h.Pool, 0)
				runtime.KeepAlive(c) // a collection before Stats would take its object
				if s.Current != 1 || s.Retired != 0 || s.Lost != bad.lost {
					t.Errorf("in the end: %+v", s)
				}
				if bad.panics == nil && len(h.reports.All()) > 0 {
					t.Errorf("reported %v", h.reports.String())
				}
			})
		}
	})
}

// TestSweeperSurvivesBadObjects makes many objects dirty at once. Every
// second reset panics or calls Goexit.
func TestSweeperSurvivesBadObjects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		h := newHooked(options)
		h.onReset(func(obj *table) bool {
			switch obj.value % 4 {
			case 1:
				panic(errHook)
			case 3:
				runtime.Goexit()
			}
			return true
		})
		c := poolswap.NewEmptyContainer(h.Pool)
		var held []*table
		for value := range 20 {
			c.Update(&table{value: value})
			held = append(held, c.Acquire())
		}
		c.Update(nil)
		for _, obj := range held {
			c.Release(obj)
		}
		s := pooltest.Settled(t, h.Pool, 0)
		if s.Lost != 10 || s.Spares != 2 || s.Discarded != 8 || h.resets.Load() != 20 {
			t.Errorf("%d resets, %+v", h.resets.Load(), s)
		}
		pooltest.Eventually(t, "five panics are reported", func() bool { return len(h.reports.All()) == 5 })
	})
}

func TestFactoryPanic(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.MaxLive = 2
		fail := func() { panic(errHook) }
		pool := poolswap.NewPoolWithOptions(func() *table { fail(); return new(table) }, nil, options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		before := pool.Stats()
		for range 3 { // MaxLive would refuse the last if a failed call counted as an object
			if _, panicked := pooltest.OnAnother(func() { c.GetNew() }); panicked != errHook {
				t.Errorf("the caller received %v, want the factory's panic", panicked)
			}
		}
		fail = runtime.Goexit
		pooltest.OnAnother(func() { c.GetNew() })
		if after := pool.Stats(); !pooltest.Same(after, before) {
			t.Errorf("the stats changed from %+v to %+v", before, after)
		}
		fail = func() {}
		c.Update(c.GetNew())
		if s := pooltest.Settled(t, pool, 0); s.Created != 1 || s.Live != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// TestSweeperPanicEndsProcess lets reset and Discard panic on the sweeper without a
// Report; no caller can recover it.
func TestSweeperPanicEndsProcess(t *testing.T) {
	if task := pooltest.InChild(); task != "" {
		panicOnTheSweeper(t, task)
		return
	}
	for _, hook := range []string{"reset", "discard"} {
		t.Run(hook, func(t *testing.T) {
			output, err := pooltest.RunChild(t, hook)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the process ended with %v, want exit status 2", err)
			}
			if !strings.Contains(output, "panic: the "+hook+"'s own\n") || !strings.Contains(output, "panicOnTheSweeper") {
				t.Errorf("the output lacks the panic of %s or its stack:\n%s", hook, output)
			}
		})
	}
}

func panicOnTheSweeper(t *testing.T, hook string) {
	options := poolswap.Options[table]{Discard: func(*table) { panic("the discard's own") }}
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(*table) bool {
		if hook == "reset" {
			panic("the reset's own")
		}
		return false
	}, options)
	c := poolswap.NewContainer(pool, &table{})
	old := c.Acquire()
	c.Update(nil)
	c.Release(old)
	pooltest.Eventually(t, "the panic ends the process", func() bool { return false })
}
