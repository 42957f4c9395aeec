package poolswap_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"weak"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// forget acquires the current object n times and drops the references.
//
//go:noinline
func forget(c *poolswap.Container[table, *table], n int) {
	for range n {
		c.Acquire()
	}
}

// forgetReader drops a Reader that holds the current object.
//
//go:noinline
func forgetReader(c *poolswap.Container[table, *table], _ int) {
	c.NewReader().Load()
}

func TestLeakIsReported(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name   string
			forget func(*poolswap.Container[table, *table], int)
			held   int
		}{
			{"a forgotten Release", forget, 1},
			{"three forgotten Releases", forget, 3},
			{"a Reader dropped without Close", forgetReader, 1},
		} {
			t.Run(test.name, func(t *testing.T) {
				var reports pooltest.Reports
				options.Report = reports.Report
				pool := newTablePool(options)
				c := poolswap.NewContainer(pool, &table{value: 1})
				test.forget(c, test.held)
				c.Update(&table{value: 2})
				if s := pool.Stats(); s.Retired != 1 || s.Leaked != 0 {
					t.Errorf("before a collection: %+v", s)
				}
				pooltest.Eventually(t, "the leak is reported", func() bool {
					runtime.GC()
					return len(reports.All()) > 0
				})
				var leak *poolswap.LeakError
				if err := reports.All()[0]; !errors.As(err, &leak) || leak.Type != "*poolswap_test.table" || leak.Held != test.held || leak.Holders != nil {
					t.Errorf("reported %v", err)
				}
				s := pooltest.Settled(t, pool, 0)
				if s.Leaked != 1 || s.Collected != 1 || s.Retired != 0 || s.Live != 1 {
					t.Errorf("after a collection: %+v", s)
				}
				c.WithAcquire(func(obj *table) {
					if obj.value != 2 {
						t.Errorf("the container serves value %d", obj.value)
					}
				})
			})
		}
	})
}

// TestLeakReportEndsItsGoroutine, as t.Fatal does, or blocks it: the runtime runs the
// next cleanups all the same.
func TestLeakReportEndsItsGoroutine(t *testing.T) {
	blocked := make(chan struct{})
	defer close(blocked)
	for _, test := range []struct {
		name  string
		leave func()
	}{
		{"by Goexit", runtime.Goexit},
		{"never, as it blocks", func() { <-blocked }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var reports pooltest.Reports
			c := poolswap.NewContainer(newTablePool(poolswap.Options[table]{Report: func(err error) {
				own := strings.Contains(string(debug.Stack()), "created by github.com/poolswap/poolswap/")
				if !own {
					t.Error("Report runs on a goroutine of the runtime")
				}
				reports.Report(err)
				if own { // else no cleanup would run any more, in no test
					test.leave()
				}
			}}), &table{})
			for leaked := range runtime.GOMAXPROCS(0) + 1 { // the runtime has no more goroutines for cleanups
				forget(c, 1)
				c.Update(&table{})
				pooltest.Eventually(t, "the leak is reported", func() bool {
					runtime.GC()
					return len(reports.All()) > leaked
				})
			}
		})
	}
}

//go:noinline
func dropContainer(pool *poolswap.Pool[table, *table], use func(*poolswap.Container[table, *table])) {
	use(poolswap.NewContainer(pool, &table{value: 1}))
}

func TestDroppedContainerIsNoLeak(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, test := range []struct {
			name   string
			use    func(*poolswap.Container[table, *table])
			report string
		}{
			{"with balanced releases", func(c *poolswap.Container[table, *table]) { c.Release(c.Acquire()) }, ""},
			{
				"with an over-release", func(c *poolswap.Container[table, *table]) { obj := c.Acquire(); c.Release(obj); c.Release(obj) },
				"poolswap: Release of a *poolswap_test.table more often than it was acquired: 1 too many (released twice, released after Update, or Release of a Reader's object?) [generation 0, acquired 1 times, released 2 times]",
			},
			{"with an object that the writer never published", func(c *poolswap.Container[table, *table]) { c.GetNew() }, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				var reports pooltest.Reports
				options.Report = reports.Report
				pool := newTablePool(options)
				dropContainer(pool, test.use)
				pooltest.Eventually(t, "its object is collected", func() bool {
					runtime.GC()
					return pool.Stats().Live == 0
				})
				if s := pooltest.Settled(t, pool, 0); s.Leaked != 0 || s.Current != 0 {
					t.Errorf("%+v", s)
				}
				if test.report != "" { // the cleanup settles the stats before it reports
					pooltest.Eventually(t, "the over-release is reported", func() bool { return len(reports.All()) > 0 })
				}
				if report := pooltest.WithoutAddress(reports.String()); report != test.report {
					t.Errorf("reported %q, want %q", report, test.report)
				}
			})
		}
	})
}

func TestLeakErrorNamesCause(t *testing.T) {
	leak := &poolswap.LeakError{Type: "*app.Table", Held: 2}
	const want = "poolswap: a *app.Table was dropped with 2 references never released (a forgotten Release or Close?)"
	if leak.Error() != want {
		t.Errorf("%s", leak)
	}
}

// abandoned has weak pointers to a pool that the program dropped without
// emptying it, and to everything in it.
type abandoned struct {
	pool      weak.Pointer[poolswap.Pool[table, *table]]
	container weak.Pointer[poolswap.Container[table, *table]]
	objects   []weak.Pointer[table]
}

// abandon drops a pool with objects in every phase and on every list. Its
// sweeper is blocked in a reset until resume is closed.
//
//go:noinline
func abandon(t *testing.T, options poolswap.Options[table], resume <-chan struct{}) abandoned {
	const blocks = 1
	options.Spares = 2
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(obj *table) bool {
		if obj.value == blocks {
			<-resume
		}
		return true
	}, options)
	c := poolswap.NewContainer(pool, &table{value: blocks})
	a := abandoned{pool: weak.Make(pool), container: weak.Make(c)}
	note := func(obj *table) *table {
		a.objects = append(a.objects, weak.Make(obj))
		return obj
	}

	resetting := note(c.Acquire())
	c.Update(pool.Get())
	dirty := note(c.Acquire())
	c.Update(pool.Get())
	reader := c.NewReader()
	note(reader.Load())
	c.Update(note(pool.Get())) // the Reader's object is retired, this one current
	private := note(pool.Get())
	var free []*table
	for range options.Spares + 2 {
		free = append(free, note(pool.Get()))
	}

	c.Release(resetting)
	pooltest.Eventually(t, "the sweeper is in reset", func() bool { return pool.Stats().Resetting == 1 })
	c.Release(dirty)
	for _, obj := range free { // spares, and two in the overflow
		pool.Release(obj)
	}
	s := pool.Stats()
	if s.Current != 1 || s.Retired != 1 || s.PendingReset != 1 || s.Spares != options.Spares || s.Discarded != 0 {
		t.Errorf("the pool does not have an object in every phase: %+v", s)
	}
	runtime.KeepAlive(c) // a collection before Stats would change it
	runtime.KeepAlive(reader)
	runtime.KeepAlive(private)
	return a
}

// TestDroppedPoolIsCollected fails if the runtime can reach the pool from the cleanup
// of an object: then the pool would keep its spares, and their cleanups the pool.
func TestDroppedPoolIsCollected(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		resume := make(chan struct{})
		a := abandon(t, options, resume)
		close(resume)
		pooltest.Eventually(t, "pool, container and objects are collected", func() bool {
			runtime.GC()
			gone := a.pool.Value() == nil && a.container.Value() == nil
			for _, obj := range a.objects {
				gone = gone && obj.Value() == nil
			}
			return gone
		})
	})
}

// TestObjectDoesNotKeepContainerAlive: an object may keep its pool alive, but not the
// container that published it.
func TestObjectDoesNotKeepContainerAlive(t *testing.T) {
	var kept *table
	dropButKeep := func() weak.Pointer[poolswap.Container[table, *table]] {
		c := newTableContainer(poolswap.Options[table]{})
		kept = c.Acquire()
		c.Release(kept)
		return weak.Make(c)
	}
	container := dropButKeep()
	pooltest.Eventually(t, "the container is collected", func() bool {
		runtime.GC()
		return container.Value() == nil
	})
	if kept.value != 1 {
		t.Errorf("the object that is still reachable has value %d", kept.value)
	}
}
