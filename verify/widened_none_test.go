//go:build !poolswapsched

package verify_test

import "testing"

// widened reports whether this is the widened build.
const widened = false

// widen does nothing: this build runs on the real processors.
func widen(testing.TB) {}
