//go:build !race

// Under the race detector a sync.Pool drops objects at random.

package suites_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestPoolsSaveAllocations: the allocations for which pools are known, whatever the
// time they take.
func TestPoolsSaveAllocations(t *testing.T) {
	const most = 10 // a handful: collections take something from a sync.Pool now and then
	for _, c := range []struct {
		work, rival, unit string
		least, most       float64
	}{
		{"log-line", "NoPool", "allocs/op", 2, 2},
		{"log-line", "Wrapper", "allocs/op", 1, 1},
		{"log-line", "typedpool", "allocs/op", 0, 0},
		{"struct8k", "NoPool", "B/op", 8192, 8192 + most},
		{"struct8k", "sync.Pool", "B/op", 0, most},
		{"struct8k", "typedpool", "B/op", 0, most},
		{"small", "NoPool", "allocs/op", 10_000, 10_000 + most},
		{"small", "sync.Pool", "allocs/op", 0, most},
		{"small", "Go1.12", "allocs/op", 0, most},
		{"small", "typedpool", "allocs/op", 0, most},
		{"small", "poolswap", "allocs/op", 0, most},
	} {
		got := math.Floor(sample(t, "pooling", "work="+c.work, c.rival, runner.Config{Time: 10 * time.Millisecond}).Values[c.unit])
		if got < c.least || got > c.most {
			t.Errorf("%s, %s: %v %s, want %v to %v", c.work, c.rival, got, c.unit, c.least, c.most)
		}
	}
}

// TestCollectionsEmptySyncPools: with a collection after each object a sync.Pool of
// whatever age is worse than none, and the pool that keeps its objects is not. On
// several processors the workers of a collection wait for each other, for which
// the runtime allocates too.
func TestCollectionsEmptySyncPools(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	allocations := func(rival string) float64 {
		return sample(t, "pooling", "work=small-gc", rival, runner.Config{Time: time.Millisecond, Shrink: 10}).Values["allocs/op"]
	}
	none := allocations("NoPool")
	for _, rival := range []string{"sync.Pool", "Go1.12"} {
		if got := allocations(rival); got < none {
			t.Errorf("%s allocates %v times, no pool %v times", rival, got, none)
		}
	}
	if got := allocations("poolswap"); got > none/5 {
		t.Errorf("poolswap allocates %v times, no pool %v times", got, none)
	}
}
