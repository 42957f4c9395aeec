package slab_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
)

// TestReadersOfAPooledMapSeeOneVersion replaces a map under readers, each of which
// finds every key of one version.
func TestReadersOfAPooledMapSeeOneVersion(t *testing.T) {
	pool := poolswap.NewPool(
		func() *countries { return new(countries) },
		func(c *countries) bool { c.names.Reset(); return true },
	)
	fill := func(version int) *countries {
		next := pool.Get()
		for n := range 50 {
			next.names.SetBytes(fmt.Append(nil, n), fmt.Append(nil, "version ", version))
		}
		return next
	}
	tables := poolswap.NewContainer(pool, fill(0))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				table := tables.Acquire()
				version, _ := table.names.Get("0")
				for n := range 50 {
					if got, _ := table.names.Get(fmt.Sprint(n)); got != version || got == "" {
						t.Errorf("key %d has %q, and key 0 has %q", n, got, version)
					}
				}
				tables.Release(table)
			}
		})
	}
	for version := range 300 {
		tables.Update(fill(version + 1))
	}
	close(stop)
	readers.Wait()
}
