package suites

import (
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// reader is one way to read a small object. The loops are written out for each,
// so that a call that can be inlined is.
type reader struct {
	loop   func() readLoop // for one goroutine
	update func()
}

type readLoop struct {
	read  func(n int) int // reads n times
	close func()
}

// readers are the rivals of the read suite, in order.
var readers = struct {
	names []string
	make  map[string]func() reader
}{
	[]string{"PoolSwap", "WithAcquire", "Reader.Load", "Portable", "atomic.Pointer", "RWMutex", "RWMutexRef"},
	map[string]func() reader{
		"PoolSwap":       func() reader { return acquireRelease(poolswap.Options[rivals.Object[int]]{}) },
		"Portable":       func() reader { return acquireRelease(poolswap.Options[rivals.Object[int]]{Portable: true}) },
		"WithAcquire":    withAcquire,
		"Reader.Load":    readerLoad,
		"atomic.Pointer": atomicPointer,
		"RWMutex":        rwMutex,
		"RWMutexRef":     rwMutexRef,
	},
}

var small = rivals.Functions[int]{New: func() int { return 1 }, Reset: func(*int) {}, Fill: func(*int) {}}

func smallPoolSwap(options poolswap.Options[rivals.Object[int]]) *rivals.PoolSwap[int] {
	s := rivals.NewPoolSwap(&small, options)
	rivals.Warm(s, &small, 3)
	return s
}

func plain(read func(n int) int) func() readLoop {
	return func() readLoop { return readLoop{read, func() {}} }
}

func acquireRelease(options poolswap.Options[rivals.Object[int]]) reader {
	c := smallPoolSwap(options).Container
	return reader{
		loop: plain(func(n int) (sum int) {
			for range n {
				obj := c.Acquire()
				sum += obj.Value
				c.Release(obj)
			}
			return sum
		}),
		update: func() { c.Update(c.GetNew()) },
	}
}

func withAcquire() reader {
	c := smallPoolSwap(poolswap.Options[rivals.Object[int]]{}).Container
	return reader{
		loop: plain(func(n int) (sum int) {
			for range n {
				c.WithAcquire(func(obj *rivals.Object[int]) { sum += obj.Value })
			}
			return sum
		}),
		update: func() { c.Update(c.GetNew()) },
	}
}

func readerLoad() reader {
	c := smallPoolSwap(poolswap.Options[rivals.Object[int]]{}).Container
	return reader{
		loop: func() readLoop {
			r := c.NewReader()
			return readLoop{func(n int) (sum int) {
				for range n {
					sum += r.Load().Value
				}
				return sum
			}, r.Close}
		},
		update: func() { c.Update(c.GetNew()) },
	}
}

func atomicPointer() reader {
	p := new(atomic.Pointer[rivals.Object[int]])
	p.Store(&rivals.Object[int]{Value: 1})
	return reader{
		loop: plain(func(n int) (sum int) {
			for range n {
				sum += p.Load().Value
			}
			return sum
		}),
		update: func() { p.Store(&rivals.Object[int]{Value: 1}) },
	}
}

func rwMutex() reader {
	var shared struct {
		sync.RWMutex
		obj *rivals.Object[int]
	}
	shared.obj = &rivals.Object[int]{Value: 1}
	return reader{
		loop: plain(func(n int) (sum int) {
			for range n {
				shared.RLock()
				sum += shared.obj.Value
				shared.RUnlock()
			}
			return sum
		}),
		update: func() {
			next := &rivals.Object[int]{Value: 1}
			shared.Lock()
			shared.obj = next
			shared.Unlock()
		},
	}
}

func rwMutexRef() reader {
	s := rivals.NewRWMutexRef(&small)
	rivals.Warm(s, &small, 3)
	return reader{
		loop: plain(func(n int) (sum int) {
			for range n {
				obj := s.Acquire()
				sum += obj.Value
				s.Release(obj)
			}
			return sum
		}),
		update: func() { s.Update(s.GetNew()) },
	}
}
