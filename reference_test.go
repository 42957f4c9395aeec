package poolswap_test

import (
	"sync"
	"sync/atomic"
)

// rwRef is the slow obvious container: a pointer and one count under an
// RWMutex, as the published design has it. It is the oracle that the real one
// is compared with and the rival that it is measured against.
type rwRef struct {
	mu      sync.RWMutex
	current *rwObject
	pool    sync.Pool
}

type rwObject struct {
	refs  atomic.Int64
	value int
}

func newRWRef(value int) *rwRef {
	c := &rwRef{}
	c.pool.New = func() any { return new(rwObject) }
	c.update(value)
	return c
}

func (c *rwRef) acquire() *rwObject {
	c.mu.RLock()
	obj := c.current
	obj.refs.Add(1)
	c.mu.RUnlock()
	return obj
}

func (c *rwRef) release(obj *rwObject) {
	if obj.refs.Add(-1) == 0 {
		obj.value = 0
		c.pool.Put(obj)
	}
}

func (c *rwRef) update(value int) {
	next := c.pool.Get().(*rwObject)
	next.value = value
	next.refs.Store(1) // the container's own
	c.mu.Lock()
	old := c.current
	c.current = next
	c.mu.Unlock()
	if old != nil {
		c.release(old)
	}
}
