//go:build !poolswapsched

package verify_test

import "testing"

// widened says whether widen does anything.
const widened = false

// widen does nothing: in this build the protocol runs on the processors that
// there are.
func widen(testing.TB) {}
