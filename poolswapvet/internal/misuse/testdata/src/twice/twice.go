package twice

import (
	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

var (
	c      *poolswap.Container[Table, *Table]
	pool   *poolswap.Pool[Table, *Table]
	tables *wrap.Tables
)

func straight() {
	t := c.Acquire()
	c.Release(t)
	c.Release(t) // want `Release of an object that the call in line 18 releases, too`
}

func deferredToo() int {
	t := c.Acquire()
	defer c.Release(t)
	n := t.Size
	c.Release(t) // want `the call in line 24 releases, too`
	return n
}

func onePathBefore(early bool) {
	t := c.Acquire()
	defer c.Release(t)
	if early {
		c.Release(t) // want `the call in line 32 releases, too`
		return
	}
}

func throughWrapper() {
	t := tables.Current()
	tables.Done(t)
	c.Release(t) // want `the call in line 41 releases, too`
}

func wrapperTwice() {
	t := c.Acquire()
	tables.Done(t)
	tables.Done(t) // want `Done of an object that the call in line 47 releases, too`
}

func ownedTwice() {
	t := pool.Get()
	pool.Release(t)
	pool.Release(t) // want `the call in line 53 releases, too`
}

func parameter(t *Table) {
	c.Release(t)
	c.Release(t) // want `the call in line 58 releases, too`
}

func captured() {
	t := c.Acquire()
	use := func() int { return t.Size }
	use()
	c.Release(t)
	c.Release(t) // want `the call in line 66 releases, too`
}

func branches(n int) {
	t := c.Acquire()
	if n > 0 {
		c.Release(t)
	} else {
		c.Release(t)
	}
}

func again() {
	t := c.Acquire()
	c.Release(t)
	t = c.Acquire()
	c.Release(t)
}

func retained() {
	t := c.Acquire()
	c.Retain(t)
	c.Release(t)
	c.Release(t)
}

func inLoop(n int) {
	for range n {
		t := c.Acquire()
		c.Release(t)
	}
}

func different() {
	a, b := c.Acquire(), c.Acquire()
	c.Release(a)
	c.Release(b)
}

func flagged(early bool) {
	t := c.Acquire()
	released := false
	defer func() {
		if !released {
			c.Release(t)
		}
	}()
	if early {
		c.Release(t)
		released = true
	}
}

func perhaps(really bool) {
	t := tables.Current()
	tables.DoneIf(t, really)
	if !really {
		tables.Done(t)
	}
}
