// Command versions keeps the last versions of a list: a reader pages through one
// of them while others are published, and a bad one is taken back.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/poolswap/poolswap"
)

// List is the object that is replaced.
type List struct {
	poolswap.Ref
	names []string
}

func newLists(options poolswap.Options[List]) (*poolswap.Pool[List, *List], *poolswap.Container[List, *List]) {
	pool := poolswap.NewPoolWithOptions(
		func() *List { return new(List) },
		func(l *List) bool {
			clear(l.names)
			l.names = l.names[:0]
			return true
		}, options)
	return pool, poolswap.NewEmptyContainer(pool)
}

func publish(ctx context.Context, lists *poolswap.Container[List, *List], names ...string) (version uint64, err error) {
	return lists.Publish(ctx, func(next, _ *List) error {
		next.names = append(next.names, names...)
		return nil
	})
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	const limit = 2
	pool, lists := newLists(poolswap.Options[List]{Spares: limit})
	h := &History{lists: lists, limit: limit}
	kept := make(chan uint64)
	go func() {
		defer close(kept)
		h.follow(ctx, func(version uint64) { kept <- version })
	}()
	if _, err := publish(ctx, lists, "a.example", "b.example", "c.example"); err != nil {
		return err
	}
	first := <-kept
	if _, err := publish(ctx, lists, "typo"); err != nil {
		return err
	}
	<-kept

	names, err := h.page(first, 2, 2)
	fmt.Fprintln(out, names, err) // [c.example] <nil>, although another version is current
	if err := h.rollBack(ctx, first); err != nil {
		return err
	}
	<-kept
	lists.WithAcquire(func(l *List) { fmt.Fprintln(out, l.names) }) // [a.example b.example c.example]

	err = pool.Close(ctx) // ends the history
	<-kept
	return err
}
