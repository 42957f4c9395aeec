package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestCountersMayWrapAround starts with counters that are about to exceed 64
// bits. Their sums are modular and must still identify the last reader.
func TestCountersMayWrapAround(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for before := range uint64(4) { // increments until the wrap
			if _, panicked := pooltest.OnAnother(func() { wrapAround(t, options, before) }); panicked != nil {
				t.Errorf("%d before the wrap: panic %v", before, panicked)
			}
		}
	})
}

func wrapAround(t *testing.T, options poolswap.Options[table], before uint64) {
	pool := newTablePool(options)
	old := &table{value: 1}
	c := poolswap.NewContainer(pool, old)
	objectOf(old).PresetCounts(-before)
	for range 3 {
		c.Acquire()
	}
	c.Release(old)
	if refs := pool.Refs(old); refs != 2 {
		t.Errorf("%d before the wrap: %d references, want 2", before, refs)
	}
	c.Update(&table{value: 2})
	c.Release(old)
	if s := pool.Stats(); s.Retired != 1 || s.Lost != 0 {
		t.Errorf("%d before the wrap: with one reader left: %+v", before, s)
	}
	c.Release(old)
	if s := pool.Stats(); s.Retired != 0 || s.Lost != 0 {
		t.Errorf("%d before the wrap: after the last release: %+v", before, s)
	}
}
