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

// Server shows how to declare a container as a field: both type parameters.
type Server struct {
	routes *poolswap.Container[Routes, *Routes]
}

func main() {
	pool := poolswap.NewPool(
		func() *Routes { return new(Routes) },
		func(r *Routes) bool { r.hosts = r.hosts[:0]; return true }) // empty it, keep its memory
	s := Server{routes: poolswap.NewContainer(pool, &Routes{hosts: []string{"a.example"}})}

	old := s.routes.Acquire() // a reader begins

	next := s.routes.GetNew() // the writer fills another object and swaps it in
	next.hosts = append(next.hosts, "b.example", "c.example")
	s.routes.Update(next)

	fmt.Println("a reader that began before:", old.hosts)
	s.routes.Release(old) // the last reader is done: the old object returns to the pool

	s.routes.WithAcquire(func(r *Routes) { fmt.Println("a reader that begins now:", r.hosts) })
	fmt.Println("objects that readers still hold:", pool.Stats().Retired)
}
