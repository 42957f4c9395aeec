package main

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
)

// shared is a table that one goroutine replaces and others read.
type shared interface {
	// replace makes a table with fill and gives it to readers. It runs once before
	// the first read.
	replace(fill func(*table) error) error
	read(question) (right bool)
}

// way is a way to share a table.
type way struct {
	name string
	make func() shared
}

var ways = []way{
	{"poolswap", newPooled},
	{"atomic.Pointer", func() shared { return new(pointed) }},
	{"RWMutex, in place", func() shared { return new(locked) }},
	{"RWMutex, two tables", func() shared { return &exchanged{current: new(table), spare: new(table)} }},
}

// object is a table that poolswap can count the readers of.
type object struct {
	poolswap.Ref
	table
}

// pooled fills an earlier table that no reader holds any more.
type pooled struct {
	container *poolswap.Container[object, *object]
}

func newPooled() shared {
	pool := poolswap.NewPool(func() *object { return new(object) }, nil)
	return &pooled{poolswap.NewEmptyContainer(pool)}
}

func (s *pooled) replace(fill func(*table) error) error {
	_, err := s.container.Publish(context.Background(), func(next, _ *object) error { return fill(&next.table) })
	return err
}

func (s *pooled) read(q question) bool {
	obj := s.container.Acquire()
	defer s.container.Release(obj)
	return obj.answers(q)
}

// pointed makes a new table each time, and leaves the old one to the garbage
// collector.
type pointed struct{ current atomic.Pointer[table] }

func (s *pointed) replace(fill func(*table) error) error {
	next := new(table)
	if err := fill(next); err != nil {
		return err
	}
	s.current.Store(next)
	return nil
}

func (s *pointed) read(q question) bool { return s.current.Load().answers(q) }

// locked refills its only table. Readers wait meanwhile.
type locked struct {
	mu      sync.RWMutex
	current table
}

func (s *locked) replace(fill func(*table) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fill(&s.current)
}

func (s *locked) read(q question) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current.answers(q)
}

// exchanged fills its spare table outside the lock. Once the writer has the lock
// no reader holds the current one, which becomes the spare.
type exchanged struct {
	mu             sync.RWMutex
	current, spare *table // spare is the writer's alone
}

func (s *exchanged) replace(fill func(*table) error) error {
	if err := fill(s.spare); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current, s.spare = s.spare, s.current
	return nil
}

func (s *exchanged) read(q question) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.current.answers(q)
}
