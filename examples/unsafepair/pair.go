package main

import (
	"sync"
	"sync/atomic"
)

// pair is the wrong way: nothing tells the writer when the last reader is done.
type pair struct {
	current atomic.Pointer[table]
	pool    sync.Pool
}

func (p *pair) update(number int) {
	next, ok := p.pool.Get().(*table)
	if !ok {
		next = new(table)
	}
	next.fill(number)
	if old := p.current.Swap(next); old != nil {
		p.pool.Put(old) // wrong: readers that loaded old are still reading it
	}
}

func (p *pair) read() bool { return p.current.Load().whole() }
