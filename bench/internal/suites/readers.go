package suites

import (
	"sync/atomic"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// reader is one way to read a small object.
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
		"PoolSwap":       func() reader { return acquireRelease(poolswap.Options[object]{}) },
		"Portable":       func() reader { return acquireRelease(poolswap.Options[object]{Portable: true}) },
		"WithAcquire":    withAcquire,
		"Reader.Load":    readerLoad,
		"atomic.Pointer": atomicPointer,
		"RWMutex":        rwMutex,
		"RWMutexRef":     rwMutexRef,
	},
}

var small = rivals.Functions[int]{New: func() int { return 1 }, Reset: func(*int) {}, Fill: func(*int) {}}

func smallPoolSwap(options poolswap.Options[object]) *rivals.PoolSwap[int] {
	s := rivals.NewPoolSwap(&small, options)
	rivals.Warm(s, &small, 3)
	return s
}

// plain is the loop of readers that have no state of their own.
func plain(read func(n int) int) func() readLoop {
	return func() readLoop { return readLoop{read, func() {}} }
}

func acquireRelease(options poolswap.Options[object]) reader {
	c := smallPoolSwap(options).Container
	return reader{
		loop:   plain(func(n int) int { return readAcquireRelease(c, n) }),
		update: func() { c.Update(c.GetNew()) },
	}
}

func withAcquire() reader {
	c := smallPoolSwap(poolswap.Options[object]{}).Container
	return reader{
		loop:   plain(func(n int) int { return readWithAcquire(c, n) }),
		update: func() { c.Update(c.GetNew()) },
	}
}

func readerLoad() reader {
	c := smallPoolSwap(poolswap.Options[object]{}).Container
	return reader{
		loop: func() readLoop {
			r := c.NewReader()
			return readLoop{func(n int) int { return readReaderLoad(r, n) }, r.Close}
		},
		update: func() { c.Update(c.GetNew()) },
	}
}

func atomicPointer() reader {
	p := new(atomic.Pointer[object])
	p.Store(&object{Value: 1})
	return reader{
		loop:   plain(func(n int) int { return readAtomicPointer(p, n) }),
		update: func() { p.Store(&object{Value: 1}) },
	}
}

func rwMutex() reader {
	s := &locked{obj: &object{Value: 1}}
	return reader{
		loop: plain(func(n int) int { return readLocked(s, n) }),
		update: func() {
			next := &object{Value: 1}
			s.Lock()
			s.obj = next
			s.Unlock()
		},
	}
}

func rwMutexRef() reader {
	s := rivals.NewRWMutexRef(&small)
	rivals.Warm(s, &small, 3)
	return reader{
		loop:   plain(func(n int) int { return readRWMutexRef(s, n) }),
		update: func() { s.Update(s.GetNew()) },
	}
}
