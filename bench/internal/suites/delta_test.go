package suites_test

import (
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestUpdateAllocates: nothing where memory is recycled or changed in
// place, whatever the number of changes, and a whole map where it is cloned.
func TestUpdateAllocates(t *testing.T) {
	config := runner.Config{Time: 5 * time.Millisecond}
	for _, c := range []string{"changes=1/keys=1k", "changes=1000/keys=10k"} {
		for _, rival := range []string{"Oplog", "RWMutexMap", "PlainTwice"} {
			// A log that grows once allocates ten times as much, a map more.
			got := sample(t, "delta", c, rival, config)
			if bytes := got.Values["B/op"] * float64(got.Iterations); bytes > 8<<10 {
				t.Errorf("%s, %s: %.0f bytes in %d updates", c, rival, bytes, got.Iterations)
			}
		}
	}
	small := sample(t, "delta", "changes=1/keys=1k", "CloneAtomicPtr", config).Values["B/op"]
	large := sample(t, "delta", "changes=1/keys=10k", "CloneAtomicPtr", config).Values["B/op"]
	if small < 1000*(16+8) || large < 5*small {
		t.Errorf("CloneAtomicPtr: %v B/op of 1,000 keys and %v B/op of 10,000: less than the maps", small, large)
	}
}
