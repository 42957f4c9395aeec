package poolswaptest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/poolswaptest"
)

type table struct {
	poolswap.Ref
	value int
}

func newPool() *poolswap.Pool[table, *table] {
	return poolswap.NewPool(func() *table { return new(table) }, func(t *table) bool { t.value = 0; return true })
}

// report is a test that is watched: it keeps what it would print, and runs its cleanups
// when it ends.
type report struct {
	testing.TB
	cleanups []func()
	text     strings.Builder
	failed   bool
}

func (r *report) Helper()           {}
func (r *report) Cleanup(fn func()) { r.cleanups = append(r.cleanups, fn) }
func (r *report) Errorf(format string, values ...any) {
	r.failed = true
	fmt.Fprintf(&r.text, format, values...)
}

// end runs the cleanups, the last first.
func (r *report) end() string {
	for len(r.cleanups) > 0 {
		last := len(r.cleanups) - 1
		r.cleanups[last]()
		r.cleanups = r.cleanups[:last]
	}
	return r.text.String()
}

// forgets acquires the current object and returns without a Release.
func forgets(c *poolswap.Container[table, *table]) { c.Acquire() }

func TestCheckNamesTheReferencesThatAreStillHeld(t *testing.T) {
	watched := &report{TB: t}
	pool := newPool()
	poolswaptest.Check(watched, pool)
	c := poolswap.NewContainer(pool, new(table))
	forgets(c)
	c.Update(c.GetNew())
	forgets(c)
	c.Release(c.Acquire())
	text := watched.end()
	if !watched.failed || !strings.Contains(text, "references that are still held: 2\n") || strings.Count(text, "poolswaptest_test.forgets\n") != 2 ||
		!strings.Contains(text, "version 1,") || !strings.Contains(text, "version 2,") {
		t.Errorf("the test is told %q", text)
	}
}

func TestCheckPasses(t *testing.T) {
	watched := &report{TB: t}
	pool := newPool()
	poolswaptest.Check(watched, pool)
	c := poolswap.NewContainer(pool, new(table))
	obj := c.Acquire()
	released := make(chan struct{})
	go func() { // still under way when the test ends
		<-released
		c.Release(obj)
	}()
	watched.Cleanup(func() { close(released) })
	if text := watched.end(); watched.failed {
		t.Errorf("the test is told %q", text)
	}
	c.Update(nil)
}

// TestHelpersBringAboutTheirStates: a version that a slow reader holds, a publication
// that fails after its work, and the way back of both.
func TestHelpersBringAboutTheirStates(t *testing.T) {
	pool := newPool()
	poolswaptest.Check(t, pool)
	c := poolswap.NewContainer(pool, &table{value: 1})
	old, release := poolswaptest.Hold(t, c)
	_, atTheEnd := poolswaptest.Hold(t, c)
	_ = atTheEnd // Hold releases it
	refused := errors.New("refused")
	fill := func(next, _ *table) error { next.value = 2; return nil }
	if _, err := c.Publish(t.Context(), poolswaptest.FailFill(fill, refused)); !errors.Is(err, refused) || c.Version() != 1 {
		t.Errorf("Publish: %v, version %d", err, c.Version())
	}
	if _, err := c.Publish(t.Context(), fill); err != nil {
		t.Fatal(err)
	}
	if s := pool.Stats(); s.Retired != 1 || old.value != 1 {
		t.Errorf("a held version has the value %d; %+v", old.value, s)
	}
	atTheEnd()
	go release()
	poolswaptest.Wait(t, pool, "nothing is retired", func(s poolswap.Stats) bool { return s.Retired == 0 })
	poolswaptest.Drain(t, pool)
	release() // once more does nothing
	if s := pool.Stats(); s.PendingReset != 0 || s.Resetting != 0 {
		t.Errorf("after Drain: %+v", s)
	}
}
