// Package copies copies types that must not be copied. Each line that go vet has to
// report ends in a comment with the type.
package copies

import "github.com/poolswap/poolswap"

type table struct {
	poolswap.Ref
	rows []int
}

func copyContainer(c *poolswap.Container[table, *table]) {
	dup := *c // copies Container
	dup.Update(nil)
}

func passContainer(c poolswap.Container[table, *table]) { // copies Container
	c.Update(nil)
}

func copyPool(p *poolswap.Pool[table, *table]) {
	dup := *p // copies Pool
	dup.Trim()
}

func passPool(p poolswap.Pool[table, *table]) { // copies Pool
	p.Trim()
}

func copyReader(r *poolswap.Reader[table]) {
	dup := *r // copies Reader
	dup.Close()
}

func passReader(r poolswap.Reader[table]) { // copies Reader
	r.Close()
}

func copyRef(t *table) poolswap.Ref {
	dup := t.Ref // copies Ref
	return dup   // copies Ref
}

func copyObject(t *table) int {
	dup := *t // copies Ref
	return len(dup.rows)
}

func copyBox(b *poolswap.Box[int]) int {
	dup := *b // copies Ref
	return dup.Value
}

func rangeObjects(tables []table) (n int) {
	for _, t := range tables { // copies Ref
		n += len(t.rows)
	}
	return n
}

// The rest is right and must not be reported.

func point(c *poolswap.Container[table, *table], p *poolswap.Pool[table, *table]) int {
	same := c
	r := same.NewReader()
	defer r.Close()
	c.WithAcquire(func(t *table) { p.Refs(t) })
	return len(r.Load().rows)
}
