package suites_test

import (
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// TestWhatAnUpdateAllocates: nothing where memory is recycled or changed in
// place, whatever the number of changes, and a whole map where it is cloned.
func TestWhatAnUpdateAllocates(t *testing.T) {
	config := measure.Config{Time: 5 * time.Millisecond}
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

// TestWhatALookupAllocates: nothing, with any rival.
func TestWhatALookupAllocates(t *testing.T) {
	for _, rival := range []string{"Oplog", "Oplog.Get", "PlainMap", "CloneAtomicPtr", "Persistent", "sync.Map", "xsync.Map", "RWMutexMap"} {
		got := sample(t, "delta", "goroutines=1/keys=1k", rival, measure.Config{Time: 5 * time.Millisecond})
		if bytes := got.Values["B/op"] * float64(got.Iterations); bytes > 8<<10 {
			t.Errorf("%s: %.0f bytes in %d lookups", rival, bytes, got.Iterations)
		}
	}
}
