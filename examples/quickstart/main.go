// Command quickstart replaces a small deny list under a reader.
package main

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/poolswap/poolswap"
)

// DenyList is the object that readers share. Its Ref counts them.
type DenyList struct {
	poolswap.Ref
	networks []netip.Prefix
}

// Container is for fields and parameters.
type Container = poolswap.Container[DenyList, *DenyList]

// load fills a spare object, next, and publishes it.
func load(ctx context.Context, list *Container, networks ...string) (version uint64, err error) {
	return list.Publish(ctx, func(next, current *DenyList) error {
		for _, text := range networks {
			network, err := netip.ParsePrefix(text)
			if err != nil {
				return err // next returns to the pool, and current stays
			}
			next.networks = append(next.networks, network)
		}
		return nil
	})
}

func main() {
	ctx := context.Background()
	pool := poolswap.NewPool(
		func() *DenyList { return new(DenyList) },
		func(d *DenyList) bool { // before d is used again: empty it, and keep its memory
			d.networks = d.networks[:0]
			return true // false would discard d
		})
	list := poolswap.NewEmptyContainer(pool)
	fmt.Println(load(ctx, list, "192.0.2.0/24")) // 1 <nil>

	old := list.Acquire()                                         // a reader begins
	fmt.Println(load(ctx, list, "198.51.100.0/24", "10.0.0.0/8")) // 2 <nil>
	fmt.Println(load(ctx, list, "typo"))                          // 0 netip.ParsePrefix("typo"): no '/'
	fmt.Println(old.networks)                                     // [192.0.2.0/24]
	list.Release(old)                                             // the last reader: old returns to the pool

	list.WithAcquire(func(d *DenyList) { fmt.Println(d.networks) }) // [198.51.100.0/24 10.0.0.0/8]
	fmt.Println(pool.Close(ctx), pool.Stats().Live)                 // <nil> 0: Close waited for readers
}
