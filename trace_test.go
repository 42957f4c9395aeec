package poolswap_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// holders returns the functions of this file that hold references, as the pool has
// recorded them.
func holders(pool *poolswap.Pool[table, *table]) (functions []string) {
	for _, h := range pool.Holders() {
		functions = append(functions, holderIn(h.String()))
	}
	return functions
}

// holderIn returns the first function of this file that a text names.
func holderIn(text string) string {
	for line := range strings.Lines(text) {
		if _, function, ours := strings.Cut(line, "\tgithub.com/poolswap/poolswap_test."); ours {
			return strings.TrimSpace(function)
		}
	}
	return "none in " + text
}

// The takers take one reference each and return its release.
var takers = []struct {
	function string
	take     func(*poolswap.Container[table, *table]) (release func())
}{
	{"acquires", acquires},
	{"retains", retains},
	{"loads", loads},
	{"passes", passes},
	{"loops", loops},
	{"fills", fills},
}

func acquires(c *poolswap.Container[table, *table]) func() {
	obj := c.Acquire()
	return func() { c.Release(obj) }
}

func retains(c *poolswap.Container[table, *table]) func() {
	var obj *table
	c.WithAcquire(func(current *table) { obj = c.Retain(current) })
	return func() { c.Release(obj) }
}

func loads(c *poolswap.Container[table, *table]) func() {
	r := c.NewReader()
	r.Load()
	return r.Close
}

func passes(c *poolswap.Container[table, *table]) func() {
	return inside(func(wait func()) { c.WithAcquire(func(*table) { wait() }) })
}

func loops(c *poolswap.Container[table, *table]) func() {
	return inside(func(wait func()) {
		for range c.Versions(context.Background()) {
			wait()
			return
		}
	})
}

func fills(c *poolswap.Container[table, *table]) func() {
	return inside(func(wait func()) {
		_, _ = c.Publish(context.Background(), func(_, _ *table) error {
			wait()
			return errors.New("given up")
		})
	})
}

// inside runs body on another goroutine until its wait is reached, and on to its end
// when release is called.
func inside(body func(wait func())) (release func()) {
	reached, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		body(func() { close(reached); <-leave })
	}()
	<-reached
	return func() { close(leave); <-left }
}

func TestHoldersNameTheLineOfEachKindOfReference(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for _, taker := range takers {
			t.Run(taker.function, func(t *testing.T) {
				pool := newTablePool(options)
				pool.Trace(1)
				c := poolswap.NewContainer(pool, &table{value: 1})
				began := time.Now()
				release := taker.take(c)
				for _, when := range []string{"current", "replaced"} {
					if by := holders(pool); len(by) != 1 || !strings.HasPrefix(by[0], taker.function) {
						t.Fatalf("while it is %s it is held by %q, want %s", when, by, taker.function)
					}
					c.Update(c.GetNew())
				}
				h := pool.Holders()[0]
				if h.Version != 1 || h.Since.Before(began) || h.Since.After(time.Now()) {
					t.Errorf("version %d since %v, want 1, since %v", h.Version, h.Since, began)
				}
				release()
				if by := holders(pool); len(by) != 0 {
					t.Errorf("when it is released it is held by %q", by)
				}
				pooltest.Settled(t, pool, 0)
			})
		}
	})
}

// tracedNow reports whether the current version is traced.
func tracedNow(pool *poolswap.Pool[table, *table], c *poolswap.Container[table, *table]) bool {
	before := len(pool.Holders())
	obj := c.Acquire()
	traced := len(pool.Holders()) > before
	c.Release(obj)
	return traced
}

func TestTraceCountsPublications(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{})
	publish := func() { c.Update(c.GetNew()) }
	fail := func() {
		if _, err := c.Publish(t.Context(), func(_, _ *table) error {
			publish()
			return nil
		}); !errors.Is(err, poolswap.ErrConflict) {
			t.Errorf("Publish: %v", err)
		}
	}
	for _, step := range []struct {
		name   string
		do     func()
		traced bool
	}{
		{"before", func() {}, false},
		{"asked for two", func() { pool.Trace(2) }, false},
		{"the first", publish, true},
		{"the second, in a fill that then conflicts", fail, true},
		{"the third", publish, false},
		{"asked for one", func() { pool.Trace(1) }, false},
		{"that one, in such a fill", fail, true},
		{"the next", publish, false},
		{"asked for all", func() { pool.Trace(-1) }, false},
		{"one of all", publish, true},
		{"another of all", publish, true},
		{"no more, but the current one is", func() { pool.Trace(0) }, true},
		{"the last", publish, false},
	} {
		if step.do(); tracedNow(pool, c) != step.traced {
			t.Errorf("%s: traced %t, want %t", step.name, !step.traced, step.traced)
		}
	}
}

func TestAFailedPublicationDoesNotCountAsTraced(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{})
	for _, failed := range []func(){
		func() {
			_, err := c.Publish(t.Context(), func(_, _ *table) error {
				c.Update(c.GetNew())
				pool.Trace(1)
				return nil
			})
			if !errors.Is(err, poolswap.ErrConflict) {
				t.Errorf("Publish: %v", err)
			}
		},
		func() {
			pool.Trace(1)
			current := c.Acquire()
			defer c.Release(current)
			pooltest.PanicOf(t, func() { c.Update(current) })
		},
	} {
		failed()
		if tracedNow(pool, c) {
			t.Error("a version is traced that was published before")
		}
		if c.Update(c.GetNew()); !tracedNow(pool, c) {
			t.Error("the next version is not traced")
		}
		c.Update(c.GetNew())
	}
}

func TestTraceFromTheEnvironment(t *testing.T) {
	t.Setenv("POOLSWAP_TRACE", "1")
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{})
	release := acquires(c)
	if by := holders(pool); len(by) != 1 || !strings.HasPrefix(by[0], "acquires") {
		t.Errorf("held by %q", by)
	}
	release()
}

func TestErrorsNameTheLinesThatHold(t *testing.T) {
	var reports pooltest.Reports
	pool := newTablePool(poolswap.Options[table]{Report: reports.Report})
	pool.Trace(1)
	c := poolswap.NewContainer(pool, &table{})
	release := acquires(c)
	c.Update(c.GetNew())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := pool.Drain(ended)
	var held *poolswap.HeldError
	if !errors.As(err, &held) || len(held.Holders) != 1 || !strings.HasPrefix(holderIn(err.Error()), "acquires") || !strings.Contains(err.Error(), "trace_test.go:") {
		t.Errorf("Drain: %v", err)
	}
	release()
	pool.Trace(1)
	c.Update(c.GetNew())
	forget(c, 2)
	c.Update(nil)
	pooltest.Eventually(t, "the leak is reported", func() bool {
		runtime.GC()
		return len(reports.All()) > 0
	})
	var leak *poolswap.LeakError
	if err := reports.All()[0]; !errors.As(err, &leak) || len(leak.Holders) != 2 || !strings.HasPrefix(holderIn(err.Error()), "forget") {
		t.Errorf("reported %v", err)
	}
	if text := reports.All()[0].Error(); strings.Count(text, ".forget") != 1 || !strings.Contains(text, "and 1 more there") {
		t.Errorf("two references of one place are not listed once: %s", text)
	}
	if by := holders(pool); len(by) != 2 || by[0] != "forget" {
		t.Errorf("the object is gone, and the list of holders is %q", by)
	}
}

func TestHoldersOfCollectedVersionsAreBounded(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	pool.Trace(-1)
	c := poolswap.NewContainer(pool, &table{})
	for range 10 {
		forget(c, 10)
		c.Update(&table{})
	}
	pooltest.Eventually(t, "ten leaks are known", func() bool {
		runtime.GC()
		return pool.Stats().Leaked == 10
	})
	if n := len(pool.Holders()); n != 64 {
		t.Errorf("%d holders are listed, want the last 64", n)
	}
}

// releasesTwice releases an object that it acquired once.
//
//go:noinline
func releasesTwice(c *poolswap.Container[table, *table]) {
	obj := c.Acquire()
	c.Release(obj)
	c.Release(obj)
}

// TestOverReleaseNamesItsSuspects: the second Release takes the record of an innocent
// holder, whose own Release finds none. Both are suspects.
func TestOverReleaseNamesItsSuspects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		pool.Trace(1)
		c := poolswap.NewContainer(pool, &table{})
		release := acquires(c)
		_, panicked := pooltest.OnAnother(func() { releasesTwice(c) })
		if panicked != nil {
			t.Fatal(panicked)
		}
		release()
		_, err := c.Publish(t.Context(), func(_, _ *table) error { return nil })
		var over *poolswap.OverReleaseError
		if !errors.As(err, &over) || len(over.Suspects) != 2 {
			t.Fatalf("Publish: %v", err)
		}
		var suspects []string
		for _, h := range over.Suspects {
			suspects = append(suspects, holderIn(h.String()))
		}
		if !strings.HasPrefix(suspects[0], "releasesTwice") || !strings.HasPrefix(suspects[1], "acquires") || !strings.HasPrefix(holderIn(err.Error()), "releasesTwice") {
			t.Errorf("the suspects are %q", suspects)
		}
	})
}

func TestAHandOverLeavesTheRightNumberOfHolders(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	pool.Trace(1)
	c := poolswap.NewContainer(pool, &table{})
	var releases []func()
	for range 3 {
		releases = append(releases, retains(c))
	}
	for i, release := range releases {
		if _, panicked := pooltest.OnAnother(release); panicked != nil {
			t.Fatal(panicked)
		}
		if left := len(pool.Holders()); left != 2-i {
			t.Errorf("%d holders are left after %d releases", left, i+1)
		}
	}
	c.Update(nil)
	pooltest.Settled(t, pool, 0)
}

func TestHeldTooLongIsReportedOnceByTheNextPublication(t *testing.T) {
	var reports pooltest.Reports
	pool := newTablePool(poolswap.Options[table]{HeldTooLong: time.Nanosecond, Report: reports.Report})
	c := poolswap.NewContainer(pool, &table{value: 1})
	forgotten := []func(){acquires(c)} // of version 1, which is not traced
	publish := func() {
		if _, err := c.Publish(t.Context(), func(_, _ *table) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	publish() // replaces it
	if len(reports.All()) != 0 || len(pool.Holders()) != 0 {
		t.Fatalf("before it is held at all: %v", &reports)
	}
	publish() // finds it, and traces itself
	forgotten = append(forgotten, acquires(c))
	if by := holders(pool); len(by) != 1 || !strings.HasPrefix(by[0], "acquires") {
		t.Errorf("after one further publication: held by %q", by)
	}
	c.Update(c.GetNew()) // replaces the traced version
	publish()            // finds that, too
	all := reports.All()
	if len(all) != 2 {
		t.Fatalf("reported %v, want one report for each version", &reports)
	}
	for i, want := range []poolswap.HeldTooLongError{{Version: 1, References: 1}, {Version: 3, References: 1, Holders: make([]poolswap.Holder, 1)}} {
		var late *poolswap.HeldTooLongError
		if !errors.As(all[i], &late) || late.Version != want.Version || late.References != want.References || len(late.Holders) != len(want.Holders) || late.Age <= 0 || late.Type != "*poolswap_test.table" {
			t.Errorf("reported %v, want version %d with %d holders", all[i], want.Version, len(want.Holders))
		}
	}
	if !strings.Contains(all[1].Error(), "trace_test.go:") {
		t.Errorf("the report names no line: %v", all[1])
	}
	for _, release := range forgotten {
		release()
	}
	pool.Trace(0)
	publish()
	publish()
	if tracedNow(pool, c) {
		t.Error("nothing is held too long any more, and versions are traced")
	}
}

func TestTracesBackOffWhileAVersionIsHeld(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{HeldTooLong: time.Nanosecond})
	c := poolswap.NewContainer(pool, &table{})
	release := acquires(c)
	c.Update(c.GetNew())
	var traced []int
	for n := range 3100 {
		if c.Update(c.GetNew()); tracedNow(pool, c) {
			traced = append(traced, n)
		}
	}
	if want := "[0 1 2 3 4 8 16 32 64 128 256 512 1024 2048 3072]"; fmt.Sprint(traced) != want {
		t.Errorf("traced are %v, want %s", traced, want)
	}
	release()
	c.Update(c.GetNew())
	defer acquires(c)()
	c.Update(c.GetNew())
	if c.Update(c.GetNew()); !tracedNow(pool, c) {
		t.Error("after a while without such a version the first that is found is not traced")
	}
}
