package oplog_test

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"sync"

	"github.com/poolswap/poolswap/oplog"
)

// flags is a store of feature flags: readers look them up, and writers change some.
type flags = oplog.Map[string, bool]

// subscribe gives a subscriber all flags, and then the changes of each version, until
// changed returns false or ctx ends. After a Replace, and if it was too slow, it gets all
// flags again.
func subscribe(ctx context.Context, store *flags, all func(*oplog.View[string, bool]), changed func(oplog.Batch[oplog.Change[string, bool]]) bool) error {
	for {
		view := store.Container().Acquire()
		version := view.Version()
		all(view)
		store.Container().Release(view)
		for batch, err := range store.Log().Changes(ctx, version) {
			if err == oplog.ErrGone {
				break
			}
			if err != nil || !changed(batch) {
				return err
			}
		}
	}
}

// Two writers change a store of 50,000 flags, and three subscribers follow.
func ExampleLog_Changes() {
	store, err := oplog.NewMap(oplog.MapOptions[string, bool]{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := store.Replace(ctx, func(set func(string, bool)) error {
		for i := range 50_000 {
			set("flag "+strconv.Itoa(i), false)
		}
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	var subscribed, running sync.WaitGroup
	subscribed.Add(3)
	on := make([]int, 3)
	for i := range on {
		running.Go(func() {
			all := func(view *oplog.View[string, bool]) {
				for _, set := range view.All() {
					if set {
						on[i]++
					}
				}
				subscribed.Done()
			}
			_ = subscribe(ctx, store, all, func(batch oplog.Batch[oplog.Change[string, bool]]) bool {
				on[i] += len(batch.Ops) // each sets a flag
				return batch.Version < 1002
			})
		})
	}
	subscribed.Wait()
	for writer := range 2 {
		running.Go(func() {
			for i := range 500 {
				if _, err := store.Set(ctx, "flag "+strconv.Itoa(2*i+writer), true); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	running.Wait()
	fmt.Println(on)
	// Output: [1000 1000 1000]
}
