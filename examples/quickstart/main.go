// Command quickstart swaps a small routing table under a reader.
package main

import (
	"fmt"

	"github.com/poolswap/poolswap"
)

// Routes is the object that is swapped: a Ref, and memory worth keeping.
type Routes struct {
	poolswap.Ref
	hosts []string
}

func main() {
	pool := poolswap.NewPool(
		func() *Routes { return new(Routes) },
		func(r *Routes) bool { r.hosts = r.hosts[:0]; return true }) // empty it, keep its memory
	routes := poolswap.NewContainer(pool, &Routes{hosts: []string{"a.example"}})

	old := routes.Acquire() // a reader begins

	next := routes.GetNew() // the writer fills another object and swaps it in
	next.hosts = append(next.hosts, "b.example", "c.example")
	routes.Update(next)

	fmt.Println("a reader that began before:", old.hosts)
	routes.Release(old) // the last reader lets go: the old object returns to the pool

	routes.WithAcquire(func(r *Routes) { fmt.Println("a reader that begins now:", r.hosts) })
	fmt.Println("objects that readers still hold:", pool.Stats().Retired)
}
