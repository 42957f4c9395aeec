package refcount_test

import (
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

type behindItsFields struct {
	value int
	poolswap.Ref
}

// TestAReaderCountsAgainOnlyAfterAnUpdate: a Reader that never recognized what it
// holds would return the right objects, slowly.
func TestAReaderCountsAgainOnlyAfterAnUpdate(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[behindItsFields]) {
		pool := poolswap.NewPoolWithOptions(func() *behindItsFields { return new(behindItsFields) }, nil, options)
		first, second := &behindItsFields{value: 1}, &behindItsFields{value: 2}
		c := poolswap.NewEmptyContainer(pool)
		r := c.NewReader()
		defer r.Close()
		for _, current := range []*behindItsFields{first, second} {
			c.Update(current)
			for range 3 {
				if got := r.Load(); got != current {
					t.Fatalf("Load returned %p, want %p", got, current)
				}
			}
			var acquired uint64
			for k := range seam.Stripes() + 1 {
				counted, _ := (*refcount.Object)(unsafe.Pointer(&current.Ref)).CountsOf(k)
				acquired += counted
			}
			if acquired != 1 {
				t.Errorf("three Loads of object %d acquired it %d times, want once", current.value, acquired)
			}
		}
	})
}
