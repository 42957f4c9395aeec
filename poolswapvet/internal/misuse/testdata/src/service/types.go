// Package service is what programs do, right and wrong.
package service

import (
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

type Table struct {
	poolswap.Ref
	Rows  []Row
	Index map[string]int
	Names slab.Strings
	Hits  slab.Map[int]
	Size  int
}

type Row struct {
	Host string
	Port int
	Tags []string
}

func (t *Table) Find(host string) (*Row, bool) {
	i, ok := t.Index[host]
	if !ok {
		return nil, false
	}
	return &t.Rows[i], true
}

func count(t *Table) int { return len(t.Rows) }

type container = poolswap.Container[Table, *Table]

type Store struct {
	c    *container
	Pool *poolswap.Pool[Table, *Table]
	Seen []*Table
}

func (s *Store) Get() *Table  { return s.c.Acquire() }
func (s *Store) Put(t *Table) { s.c.Release(t) }
func (s *Store) GetOK() (*Table, bool) {
	t := s.c.Acquire()
	return t, t != nil
}

type server struct {
	*Store
	c     *container
	cache map[string]string
	names chan string
	cur   *Table
	last  string
}

var globalRows []Row

type api struct {
	tables *container
	pool   *poolswap.Pool[Table, *Table]
	hits   atomic.Int64
	memo   sync.Map
	top    []Row
	best   *Row
	labels []string
	reader *poolswap.Reader[Table]
	queue  chan *Table
}
