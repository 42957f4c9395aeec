package refcount_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestThePoolForgetsDroppedContainers: a container for each request costs
// nothing after it.
func TestThePoolForgetsDroppedContainers(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	kept := poolswap.NewEmptyContainer(pool)
	for range 100 {
		poolswap.NewEmptyContainer(pool)
	}
	pooltest.Eventually(t, "the pool forgets the containers that the collector took", func() bool {
		runtime.GC()
		return poolOf(pool).Containers() == 1
	})
	runtime.KeepAlive(kept)
}
