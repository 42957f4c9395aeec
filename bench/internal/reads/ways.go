package reads

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

// Ways are the ways by name. Each call makes an object of value 1.
var Ways = map[string]func() Shared{
	"PoolSwap":       func() Shared { return acquireRelease(poolswap.Options[object]{}) },
	"Portable":       func() Shared { return acquireRelease(poolswap.Options[object]{Portable: true}) },
	"WithAcquire":    withAcquire,
	"Reader.Load":    readerLoad,
	"atomic.Pointer": atomicPointer,
	"RWMutex":        rwMutex,
	"RBMutex":        rbMutex,
	"RWMutexRef":     rwMutexRef,
}

// pooled is what the ways of poolswap share.
func pooled(options poolswap.Options[object]) (*poolswap.Container[object, *object], Shared) {
	var made atomic.Int64
	f := functions(func(*object) { made.Add(1) })
	s := rivals.NewPoolSwap(f, options)
	rivals.Warm(s, f, 3)
	return s.Container, Shared{
		swap: func(value uint64) {
			obj := s.GetNew()
			obj.Value.set(value)
			s.Update(obj)
		},
		objects: func() int { return int(made.Load()) },
	}
}

// fixed is the reader of a way that keeps nothing from read to read.
func fixed(sum func(n int) uint64, with func(use func(*Words))) func() Reader {
	return func() Reader { return Reader{sum, with, func() {}} }
}

func acquireRelease(options poolswap.Options[object]) Shared {
	c, s := pooled(options)
	s.reader = fixed(func(n int) uint64 { return sumAcquireRelease(c, n) }, func(use func(*Words)) {
		obj := c.Acquire()
		use(&obj.Value)
		c.Release(obj)
	})
	return s
}

func withAcquire() Shared {
	c, s := pooled(poolswap.Options[object]{})
	s.reader = fixed(func(n int) uint64 { return sumWithAcquire(c, n) }, func(use func(*Words)) {
		c.WithAcquire(func(obj *object) { use(&obj.Value) })
	})
	return s
}

func readerLoad() Shared {
	c, s := pooled(poolswap.Options[object]{})
	s.reader = func() Reader {
		r := c.NewReader()
		return Reader{
			sum:   func(n int) uint64 { return sumReaderLoad(r, n) },
			with:  func(use func(*Words)) { use(&r.Load().Value) },
			close: r.Close,
		}
	}
	return s
}

func atomicPointer() Shared {
	p := new(atomic.Pointer[object])
	swap := func(value uint64) {
		obj := new(object)
		obj.Value.set(value)
		p.Store(obj)
	}
	swap(1)
	return Shared{
		reader: fixed(func(n int) uint64 { return sumAtomicPointer(p, n) }, func(use func(*Words)) { use(&p.Load().Value) }),
		swap:   swap,
	}
}

// one is the count of objects of a way that overwrites its only object.
func one() int { return 1 }

func rwMutex() Shared {
	s := new(locked)
	s.obj.Value.set(1)
	return Shared{
		reader: fixed(func(n int) uint64 { return sumLocked(s, n) }, func(use func(*Words)) {
			s.RLock()
			use(&s.obj.Value)
			s.RUnlock()
		}),
		swap: func(value uint64) {
			s.Lock()
			s.obj.Value.set(value)
			s.Unlock()
		},
		objects: one,
	}
}

func rbMutex() Shared {
	s := &biased{RBMutex: xsync.NewRBMutex()}
	s.obj.Value.set(1)
	return Shared{
		reader: fixed(func(n int) uint64 { return sumBiased(s, n) }, func(use func(*Words)) {
			token := s.RLock()
			use(&s.obj.Value)
			s.RUnlock(token)
		}),
		swap: func(value uint64) {
			s.Lock()
			s.obj.Value.set(value)
			s.Unlock()
		},
		objects: one,
	}
}

func rwMutexRef() Shared {
	f := functions(nil)
	s := rivals.NewRWMutexRef(f)
	rivals.Warm(s, f, 3)
	return Shared{
		reader: fixed(func(n int) uint64 { return sumRWMutexRef(s, n) }, func(use func(*Words)) {
			obj := s.Acquire()
			use(&obj.Value)
			s.Release(obj)
		}),
		swap: func(value uint64) {
			obj := s.GetNew()
			obj.Value.set(value)
			s.Update(obj)
		},
	}
}
