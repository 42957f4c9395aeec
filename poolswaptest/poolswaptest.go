// Package poolswaptest helps to test code that uses poolswap: it finds references that a
// test forgets, with their lines, and brings about the states that are rare in tests.
// None of its functions sleeps.
package poolswaptest

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// Pool is any *poolswap.Pool.
type Pool interface {
	Trace(versions int)
	Holders() []poolswap.Holder
	Stats() poolswap.Stats
	Drain(ctx context.Context) error
}

// patience is how long a condition may take before the test fails.
const patience = 10 * time.Second

// Check traces all versions that the pool publishes from now on, and at the end of the
// test fails it if a reference to one of them is still held: each is listed with the
// stack of its taker. Call it right after NewPool. What other goroutines release at that
// moment it waits for, a second at most. A cleanup that the test registers after the call
// of Check runs before.
func Check(t testing.TB, pool Pool) {
	t.Helper()
	pool.Trace(-1)
	t.Cleanup(func() {
		t.Helper()
		if within(time.Second, func() bool { return len(pool.Holders()) == 0 }) {
			return
		}
		var lines strings.Builder
		holders := pool.Holders()
		for _, h := range holders {
			lines.WriteString("\n" + h.String())
		}
		t.Errorf("poolswaptest: references that are still held: %d%s", len(holders), &lines)
	})
}

// Hold acquires the current object, as a slow reader would, until release is called, on
// any goroutine, or the test ends. It fails the test if the container is empty.
func Hold[T any, P poolswap.Object[T]](t testing.TB, c *poolswap.Container[T, P]) (obj *T, release func()) {
	t.Helper()
	obj = c.Acquire()
	if obj == nil {
		t.Fatal("poolswaptest: Hold of an empty container")
	}
	release = sync.OnceFunc(func() { c.Release(obj) })
	t.Cleanup(release)
	return obj, release
}

// FailFill returns a fill for Publish that does what the given one does and fails all
// the same, so that a half used object goes back to the pool.
func FailFill[T any](fill func(next, current *T) error, err error) func(next, current *T) error {
	return func(next, current *T) error {
		if failed := fill(next, current); failed != nil {
			return failed
		}
		return err
	}
}

// Drain waits until every version that was replaced is back in the pool. If one is held
// for ten seconds it fails the test with the versions, and with the lines that hold them
// after a Check.
func Drain(t testing.TB, pool Pool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := pool.Drain(ctx); err != nil {
		t.Fatalf("poolswaptest: %v", err)
	}
}

// Wait waits until the pool is as reached says, for an effect of another goroutine. After
// ten seconds it fails the test, naming the state.
func Wait(t testing.TB, pool Pool, state string, reached func(poolswap.Stats) bool) {
	t.Helper()
	if !within(patience, func() bool { return reached(pool.Stats()) }) {
		t.Fatalf("poolswaptest: the pool does not come to the state %q: %+v", state, pool.Stats())
	}
}

// within reports whether the condition becomes true in that time.
func within(limit time.Duration, condition func() bool) bool {
	begun := time.Now()
	for !condition() {
		if time.Since(begun) > limit {
			return false
		}
		runtime.Gosched()
	}
	return true
}
