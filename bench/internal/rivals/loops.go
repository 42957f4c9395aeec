package rivals

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/poolswap/poolswap"
)

// Each way has a loop of its own in a function of its own, because the compiler
// does not inline into a closure that was itself inlined.

func sumAcquireRelease(c *poolswap.Container[small, *small], n int) (sum uint64) {
	for range n {
		obj := c.Acquire()
		sum += obj.Value[0]
		c.Release(obj)
	}
	return sum
}

func sumWithAcquire(c *poolswap.Container[small, *small], n int) (sum uint64) {
	for range n {
		c.WithAcquire(func(obj *small) { sum += obj.Value[0] })
	}
	return sum
}

func sumReaderLoad(r *poolswap.Reader[small], n int) (sum uint64) {
	for range n {
		sum += r.Load().Value[0]
	}
	return sum
}

func sumAtomicPointer(p *atomic.Pointer[small], n int) (sum uint64) {
	for range n {
		sum += p.Load().Value[0]
	}
	return sum
}

func sumLocked(s *mutexInPlace[Words], n int) (sum uint64) {
	for range n {
		s.mu.RLock()
		sum += s.only.Value[0]
		s.mu.RUnlock()
	}
	return sum
}

// biased is an object under xsync's mutex, whose readers do not share a counter.
type biased struct {
	*xsync.RBMutex
	obj small
}

func sumBiased(s *biased, n int) (sum uint64) {
	for range n {
		token := s.RLock()
		sum += s.obj.Value[0]
		s.RUnlock(token)
	}
	return sum
}

// sumRWMutexRef calls Acquire and Release, which are too long to be inlined in
// any program; those of poolswap are one call each too.
func sumRWMutexRef(s *rwMutexRef[Words], n int) (sum uint64) {
	for range n {
		obj := s.Acquire()
		sum += obj.Value[0]
		s.Release(obj)
	}
	return sum
}
