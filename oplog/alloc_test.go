//go:build !race

package oplog_test

import (
	"fmt"
	"testing"

	"github.com/poolswap/poolswap/oplog"
)

// noAllocs fails the test if a call of fn allocates, on any goroutine. The first
// calls do not count: they make the objects and let the log grow.
func noAllocs(t *testing.T, fn func()) {
	t.Helper()
	for range 300 {
		fn()
	}
	if allocs := testing.AllocsPerRun(1000, fn); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestPublishAllocations(t *testing.T) {
	for _, kept := range []int{1, 64, 100} {
		for _, size := range []int{1, 7, 30} {
			t.Run(fmt.Sprintf("Keep %d, %d operations", kept, size), func(t *testing.T) {
				log := newLog(t, keep(kept))
				ops := make([]operation, size)
				n := uint64(0)
				noAllocs(t, func() {
					for i := range ops {
						n++
						ops[i] = set(uint16(n%16), n)
					}
					if _, err := log.Publish(t.Context(), ops...); err != nil {
						t.Fatal(err)
					}
				})
				wantRight(t, log)
			})
		}
	}
}

func TestMapAllocations(t *testing.T) {
	m := newMap(t, oplog.MapOptions[int, int]{Keep: 64})
	for key := range 1000 {
		published(t)(m.Set(t.Context(), key, key))
	}
	n := 0
	t.Run("Set of a key that is there", func(t *testing.T) {
		noAllocs(t, func() { n++; m.Set(t.Context(), n%1000, n) })
	})
	t.Run("Delete, and Set again", func(t *testing.T) {
		noAllocs(t, func() {
			n++
			m.Delete(t.Context(), n%1000)
			m.Set(t.Context(), n%1000, n)
		})
	})
	t.Run("Publish", func(t *testing.T) {
		changes := make([]oplog.Change[int, int], 10)
		noAllocs(t, func() {
			for i := range changes {
				n++
				changes[i] = oplog.Change[int, int]{Key: n % 1000, Value: n}
			}
			m.Publish(t.Context(), changes...)
		})
	})
	t.Run("PublishFunc", func(t *testing.T) {
		changes := make([]oplog.Change[int, int], 1)
		increment := func(now *oplog.View[int, int]) ([]oplog.Change[int, int], error) {
			value, _ := now.Get(7)
			changes[0] = oplog.Change[int, int]{Key: 7, Value: value + 1}
			return changes, nil
		}
		noAllocs(t, func() { m.PublishFunc(t.Context(), increment) })
	})
	t.Run("Get", func(t *testing.T) {
		noAllocs(t, func() { n++; m.Get(n % 2000) })
	})
	t.Run("a lookup through a Reader", func(t *testing.T) {
		r := m.Container().NewReader()
		defer r.Close()
		noAllocs(t, func() { n++; r.Load().Get(n % 2000) })
	})
	t.Run("Stats", func(t *testing.T) {
		noAllocs(t, func() { m.Log().Stats() })
	})
	if stats := m.Log().Pool().Stats(); stats.Created != 2 {
		t.Errorf("%d objects were made", stats.Created)
	}
}
