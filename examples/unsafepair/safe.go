package main

import "github.com/poolswap/poolswap"

// object is a table that poolswap can count the readers of.
type object struct {
	poolswap.Ref
	table
}

// safe is the same with poolswap: an old table is used again after its last
// reader has released it.
type safe struct {
	container *poolswap.Container[object, *object]
}

func newSafe() *safe {
	pool := poolswap.NewPool(func() *object { return new(object) }, nil)
	return &safe{poolswap.NewEmptyContainer(pool)}
}

func (s *safe) update(number int) {
	next := s.container.GetNew()
	next.fill(number)
	s.container.Update(next)
}

func (s *safe) read() bool {
	obj := s.container.Acquire()
	defer s.container.Release(obj)
	return obj.whole()
}
