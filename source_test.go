package poolswap_test

import "testing"

// readsTheSource skips a test that is told -short: what it finds in the source
// is the same in every build, and one without -short looks at it.
func readsTheSource(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the source is the same in every build")
	}
}
