//go:build !race

// Under the race detector a sync.Pool drops objects at random.

package suites

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestSamplesShowThePropertiesOfRivals: who makes objects, and allocates, whatever
// the time it takes.
func TestSamplesShowThePropertiesOfRivals(t *testing.T) {
	whole, tenth := runner.Config{Time: 10 * time.Millisecond}, runner.Config{Time: time.Millisecond, Shrink: 10}
	const few = 10 // a handful: collections take something from a sync.Pool now and then
	inf := math.Inf(1)
	for _, c := range []struct {
		suite, name, rival string
		config             runner.Config
		unit               string
		least, most        float64
	}{
		{"latency", "reads=last-release", "PoolSwap", smallest, "reader-resets", 0, 0},
		{"latency", "reads=last-release", "RWMutexRef", smallest, "reader-resets", 1, inf},
		{"cadence", "collections=3", "PoolSwap", tenth, "factory-calls", 0, 0},
		{"cadence", "collections=3", "RWMutexRef", tenth, "factory-calls", 10, 10},
		{"cadence", "collections=3", "AtomicPtr", tenth, "factory-calls", 10, 10},
		{"hotswap", "writes=1%/limit=512MiB", "AtomicPtr", smallest, "maps/op", 0.01, 0.01}, // the share of writes is exact
		{"hotswap", "writes=50%/limit=512MiB", "AtomicPtr", smallest, "maps/op", 0.5, 0.5},
		{"pooling", "work=log-line", "NoPool", whole, "allocs/op", 2, 2},
		{"pooling", "work=log-line", "Wrapper", whole, "allocs/op", 1, 1},
		{"pooling", "work=log-line", "typedpool", whole, "allocs/op", 0, 0},
		{"pooling", "work=struct8k", "NoPool", whole, "B/op", 8192, 8192 + few},
		{"pooling", "work=struct8k", "sync.Pool", whole, "B/op", 0, few},
		{"pooling", "work=struct8k", "typedpool", whole, "B/op", 0, few},
		{"pooling", "work=small", "NoPool", whole, "allocs/op", 10_000, 10_000 + few},
		{"pooling", "work=small", "sync.Pool", whole, "allocs/op", 0, few},
		{"pooling", "work=small", "Go1.12", whole, "allocs/op", 0, few},
		{"pooling", "work=small", "typedpool", whole, "allocs/op", 0, few},
		{"pooling", "work=small", "poolswap", whole, "allocs/op", 0, few},
		// A log that grows once allocates more in a sample, and a map does.
		{"delta", "changes=10/keys=1k", "Oplog", whole, "B/op", 0, few},
		{"delta", "changes=10/keys=1k", "RWMutexMap", whole, "B/op", 0, few},
		{"delta", "changes=1000/keys=1k", "Oplog", whole, "B/op", 0, 8 << 10},
		{"delta", "changes=10/keys=1k", "CloneAtomicPtr", whole, "B/op", 1000 * (16 + 8), inf},
		{"delta", "changes=10/keys=10k", "CloneAtomicPtr", whole, "B/op", 10_000 * (16 + 8), inf},
	} {
		got := sampled(t, c.suite, c.name, c.rival, c.config).Values[c.unit]
		if got < c.least || got > c.most && math.Floor(got) > c.most {
			t.Errorf("%s, %s, %s: %v %s, want %v to %v", c.suite, c.name, c.rival, got, c.unit, c.least, c.most)
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
		return sampled(t, "pooling", "work=small-gc", rival, runner.Config{Time: time.Millisecond, Shrink: 10}).Values["allocs/op"]
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
