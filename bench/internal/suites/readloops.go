package suites

import (
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// The loops of the read suite. Each rival has a loop of its own in a function
// of its own, because the compiler does not inline into a closure that was
// itself inlined.

// object is the small object that the loops read.
type object = rivals.Object[int]

func readAcquireRelease(c *poolswap.Container[object, *object], n int) (sum int) {
	for range n {
		obj := c.Acquire()
		sum += obj.Value
		c.Release(obj)
	}
	return sum
}

func readWithAcquire(c *poolswap.Container[object, *object], n int) (sum int) {
	for range n {
		c.WithAcquire(func(obj *object) { sum += obj.Value })
	}
	return sum
}

func readReaderLoad(r *poolswap.Reader[object], n int) (sum int) {
	for range n {
		sum += r.Load().Value
	}
	return sum
}

func readAtomicPointer(p *atomic.Pointer[object], n int) (sum int) {
	for range n {
		sum += p.Load().Value
	}
	return sum
}

// locked is a pointer under a read-write mutex that is held for the whole read.
type locked struct {
	sync.RWMutex
	obj *object
}

func readLocked(s *locked, n int) (sum int) {
	for range n {
		s.RLock()
		sum += s.obj.Value
		s.RUnlock()
	}
	return sum
}

// readRWMutexRef calls Acquire and Release, which are too long to be inlined in
// any program; those of poolswap are one call each too.
func readRWMutexRef(s *rivals.RWMutexRef[int], n int) (sum int) {
	for range n {
		obj := s.Acquire()
		sum += obj.Value
		s.Release(obj)
	}
	return sum
}
