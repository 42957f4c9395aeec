package slabs

import (
	"strings"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

type Names struct {
	poolswap.Ref
	names slab.Strings
	title string
}

type answer struct{ name string }

var c *poolswap.Container[Names, *Names]

func returned(key string) string {
	n := c.Acquire()
	defer c.Release(n)
	name, _ := n.names.Get(key)
	return name // want `a string of a slab is returned, and the deferred Release in line 22 runs before the caller has it`
}

func returnedBoth(key string) (string, bool) {
	n := c.Acquire()
	defer c.Release(n)
	name, ok := n.names.Get(key)
	return name, ok // want `a string of a slab is returned`
}

func used(key string, a *answer) bool {
	n := c.Acquire()
	name, _ := n.names.Get(key)
	c.Release(n)
	return strings.HasPrefix(name, "a") // want `a string of a slab is used after the Release of its object in line 37`
}

func stored(key string, a *answer) {
	n := c.Acquire()
	defer c.Release(n)
	name, _ := n.names.Get(key)
	a.name = name // want `a string of a slab is stored beyond the deferred Release in line 43`
}

func cloned(key string) string {
	n := c.Acquire()
	defer c.Release(n)
	name, _ := n.names.Get(key)
	return strings.Clone(name)
}

func usedBefore(key string) bool {
	n := c.Acquire()
	defer c.Release(n)
	name, ok := n.names.Get(key)
	return ok && strings.HasPrefix(name, "a")
}

func ofTheHeap() string {
	n := c.Acquire()
	defer c.Release(n)
	return n.title
}

func copied(key string, a *answer) {
	n := c.Acquire()
	defer c.Release(n)
	name, _ := n.names.Get(key)
	a.name = strings.Clone(name)
}
