// Package machine tells tests about the machine that they run on. Only
// tests import it.
package machine

import (
	"os"
	"testing"
)

// Lacks skips a test for want of something that the machine could have: a system
// call, a program. If POOLSWAP_NO_SKIP is set, as in `make ci`, it fails the test
// instead: it would pass there and check nothing. A test that a platform, a build
// or a runner without the right to mount can never run calls t.Skip.
func Lacks(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("POOLSWAP_NO_SKIP") != "" {
		t.Fatal(append([]any{"POOLSWAP_NO_SKIP is set, but "}, why...)...)
	}
	t.Skip(why...)
}
