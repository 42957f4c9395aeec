package poolswap_test

import (
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
)

// TestStatsVersionsAreOfCurrentObjects: none was superseded before the call.
func TestStatsVersionsAreOfCurrentObjects(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				c.Update(c.GetNew())
			}
		}
	})
	defer writer.Wait()
	defer close(stop)
	for range 500_000 {
		before := c.Version()
		for _, v := range pool.Stats().Versions {
			if v < before {
				t.Fatalf("Versions has %d, and %d was current before the call", v, before)
			}
		}
	}
}
