package after

import (
	"fmt"
	"slices"

	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

var (
	c      *poolswap.Container[Table, *Table]
	pool   *poolswap.Pool[Table, *Table]
	tables *wrap.Tables
)

func field() int {
	t := c.Acquire()
	c.Release(t)
	return t.Size // want `an object is used after its Release in line 21`
}

func argument() int {
	t := c.Acquire()
	c.Release(t)
	return tables.Rows(t) // want `an object is used after its Release in line 27`
}

func write() {
	t := pool.Get()
	pool.Release(t)
	t.Size = 1 // want `an object is used after its Release in line 33`
}

func sliceReturned() []int {
	t := c.Acquire()
	defer c.Release(t)
	return t.Rows // want `a slice out of an object is returned, and the deferred Release in line 39 runs before the caller has it`
}

func partReturned() []int {
	t := c.Acquire()
	defer c.Release(t)
	return t.Rows[1:] // want `a slice out of an object is returned`
}

func mapReturned() map[string]int {
	t := c.Acquire()
	defer c.Release(t)
	return t.By // want `a map out of an object is returned`
}

func sliceKept() int {
	t := c.Acquire()
	rows := t.Rows
	c.Release(t)
	return rows[0] // want `a slice out of an object is used after the Release of its object in line 58`
}

func mapKept() int {
	t := c.Acquire()
	by := t.By
	c.Release(t)
	return by["a"] // want `a map out of an object is used after the Release of its object in line 65`
}

func ranged() (n int) {
	t := c.Acquire()
	rows := t.Rows
	c.Release(t)
	for _, row := range rows { // want `a slice out of an object is used`
		n += row
	}
	return n
}

func updated() {
	t := pool.Get()
	c.Update(t)
	t.Size = 1 // want `an object is used after the Update in line 81 published it: it is the container's`
}

func literalUpdated() int {
	t := &Table{Size: 1}
	c.Update(t)
	return t.Size // want `published it`
}

func updatedAndReleased() {
	t := pool.Get()
	c.Update(t)
	pool.Release(t) // want `Release of an object that the Update in line 93 published: it is the container's`
}

func copied() []int {
	t := c.Acquire()
	defer c.Release(t)
	return slices.Clone(t.Rows)
}

func before() int {
	t := c.Acquire()
	n := t.Size
	c.Release(t)
	return n
}

func length() int {
	t := c.Acquire()
	rows := t.Rows
	c.Release(t)
	return len(rows)
}

func otherPath(early bool) int {
	t := c.Acquire()
	if early {
		c.Release(t)
		return 0
	}
	n := t.Size
	c.Release(t)
	return n
}

func acquiredAgain() int {
	t := c.Acquire()
	c.Release(t)
	t = c.Acquire()
	defer c.Release(t)
	return t.Size
}

func retained() int {
	t := c.Acquire()
	again := c.Retain(t)
	c.Release(t)
	defer c.Release(again)
	return again.Size
}

func compared() bool {
	t := c.Acquire()
	c.Release(t)
	return t == nil
}

func updatedElsewhere(fail bool) {
	t := pool.Get()
	if fail {
		pool.Release(t)
		return
	}
	t.Size = 1
	c.Update(t)
}

func printed() {
	t := c.Acquire()
	fmt.Println(t.Rows)
	c.Release(t)
}
