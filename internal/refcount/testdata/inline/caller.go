// Command inline reads in the ways that a program does. Tests look at the code
// that the compiler makes of it.
package main

import "github.com/poolswap/poolswap"

// Table is the object that is read.
type Table struct {
	poolswap.Ref
	Rows []int
}

// AcquireRelease reads once.
//
//go:noinline
func AcquireRelease(c *poolswap.Container[Table, *Table]) int {
	t := c.Acquire()
	n := t.Rows[0]
	c.Release(t)
	return n
}

// WithAcquire reads once, in a function that captures n.
func WithAcquire(c *poolswap.Container[Table, *Table]) (n int) {
	c.WithAcquire(func(t *Table) { n = t.Rows[0] })
	return n
}

// Load reads the object that the Reader holds.
//
//go:noinline
func Load(r *poolswap.Reader[Table]) int {
	return r.Load().Rows[0]
}

//go:noinline
func all(c *poolswap.Container[Table, *Table]) int {
	r := c.NewReader()
	defer r.Close()
	return AcquireRelease(c) + WithAcquire(c) + Load(r)
}

// replace does the work of a writer, and of a goroutine that watches.
//
//go:noinline
func replace(p *poolswap.Pool[Table, *Table], c *poolswap.Container[Table, *Table]) (live, refs int) {
	if spare, err := p.TryGet(); err == nil {
		p.Release(spare)
	}
	next := p.Get()
	next.Rows = append(next.Rows[:0], 1)
	c.Update(next)
	p.Trim()
	return p.Stats().Live, p.Refs(next)
}

func main() {
	pool := poolswap.NewPool(func() *Table { return new(Table) }, nil)
	container := poolswap.NewContainer(pool, &Table{Rows: []int{1}})
	println(all(container))
	println(replace(pool, container))
}
