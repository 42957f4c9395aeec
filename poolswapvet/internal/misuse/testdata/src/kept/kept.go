package kept

import (
	"context"

	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

type holder struct{ table *Table }

var (
	c      *poolswap.Container[Table, *Table]
	global *Table
	ctx    = context.Background()
)

func outer() int {
	var t *Table
	c.WithAcquire(func(current *Table) { t = current }) // want `the function of WithAcquire keeps its object`
	return t.Size
}

func toGlobal() {
	c.WithAcquire(func(current *Table) { global = current }) // want `keeps its object`
}

func toField(h *holder) {
	c.WithAcquire(func(current *Table) { h.table = current }) // want `keeps its object`
}

func toChannel(to chan *Table) {
	c.WithAcquire(func(current *Table) { to <- current }) // want `keeps its object`
}

func ofFill() int {
	var old *Table
	c.Publish(ctx, func(next, current *Table) error {
		old = current // want `the function of Publish keeps its object`
		return nil
	})
	return old.Size
}

func released() {
	c.WithAcquire(func(current *Table) { c.Release(current) }) // want `the function of WithAcquire releases an object that it does not hold`
}

func ofReader() {
	r := c.NewReader()
	defer r.Close()
	t := r.Load()
	c.Release(t) // want `Release of an object that belongs to a Reader`
}

func retained() *Table {
	var t *Table
	c.WithAcquire(func(current *Table) { t = c.Retain(current) })
	return t
}

func value() (n int) {
	c.WithAcquire(func(current *Table) { n = current.Size })
	return n
}

func compared() bool {
	var seen *Table
	c.WithAcquire(func(current *Table) { seen = current })
	return seen == nil
}

func inside() (n int) {
	c.WithAcquire(func(current *Table) {
		t := current
		h := holder{table: t}
		n = h.table.Size
	})
	return n
}

func retainedFirst(h *holder) {
	c.WithAcquire(func(current *Table) {
		c.Retain(current)
		h.table = current
	})
}
