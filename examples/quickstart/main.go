// Command quickstart swaps a small routing table under a reader.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/poolswap/poolswap"
)

// Routes is the object that is swapped: a Ref, and memory worth keeping.
type Routes struct {
	poolswap.Ref
	hosts []string
}

// Server shows how to declare a container as a field: both type parameters.
type Server struct {
	routes *poolswap.Container[Routes, *Routes]
}

// load is the writer: it fills another object and swaps it in.
func (s *Server) load(ctx context.Context, hosts ...string) (version uint64, err error) {
	return s.routes.Publish(ctx, func(next, _ *Routes) error {
		if len(hosts) == 0 {
			return errors.New("no hosts") // next goes back to the pool, the current object stays
		}
		next.hosts = append(next.hosts, hosts...)
		return nil
	})
}

func main() {
	ctx := context.Background()
	pool := poolswap.NewPool(
		func() *Routes { return new(Routes) },
		func(r *Routes) bool { r.hosts = r.hosts[:0]; return true }) // empty it, keep its memory
	s := Server{routes: poolswap.NewEmptyContainer(pool)}
	fmt.Println(s.load(ctx, "a.example")) // the first version

	old := s.routes.Acquire() // a reader begins
	fmt.Println(s.load(ctx, "b.example", "c.example"))
	fmt.Println(s.load(ctx))
	fmt.Println("a reader that began before:", old.hosts)
	s.routes.Release(old) // the last reader is done: the old object returns to the pool

	s.routes.WithAcquire(func(r *Routes) { fmt.Println("a reader that begins now:", r.hosts) })
	fmt.Println("objects that readers still hold:", pool.Stats().Retired)
	fmt.Println("closed:", pool.Close(ctx), pool.Stats().Live, "objects left") // Close waits for readers
}
