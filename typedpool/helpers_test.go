package typedpool_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/typedpool"
)

// mustPanic runs f, which must panic with a text that contains every one of
// parts.
func mustPanic(t *testing.T, f func(), parts ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		text, _ := r.(string)
		if r == nil {
			t.Fatalf("no panic; want one with %q", parts)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("panic %q lacks %q", r, part)
			}
		}
	}()
	f()
}

// eventually runs f until it returns true. A sync.Pool may miss an object that
// it holds (the goroutine has moved to another P, the race detector has dropped
// it), but not each of a thousand times.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 1000 {
		if f() {
			return
		}
	}
	t.Errorf("never in 1000 tries: %s", what)
}

// allocs returns the number of allocations of one f, once warm, and skips the
// test where the number says nothing about the ordinary build.
func allocs(t *testing.T, f func()) float64 {
	t.Helper()
	if raceDetector || typedpool.Debugging {
		t.Skip("the race detector drops pooled objects and the debug build wraps them: no exact count")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return testing.AllocsPerRun(1000, f)
}
