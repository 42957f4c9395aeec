package poolswap_test

import (
	"sync"
	"sync/atomic"
)

// rwRef is the slow obvious container that BenchmarkReadRatio compares with: a
// pointer under an RWMutex and one reference count.
type rwRef struct {
	mu      sync.RWMutex
	current *rwObject
	pool    sync.Pool
}

type rwObject struct {
	refs  atomic.Int64
	value int
}

func newRWRef() *rwRef {
	c := &rwRef{current: &rwObject{value: 1}}
	c.current.refs.Store(1) // the container's own
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
