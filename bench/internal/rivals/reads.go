package rivals

import (
	"sync/atomic"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/poolswap/poolswap"
)

// Reads are the ways to read a small object, by name. Each call makes an object of
// value 1.
var Reads = map[string]func() SmallShared{
	"PoolSwap":    func() SmallShared { return ours(poolswap.Options[small]{}, sumAcquireRelease) },
	"Portable":    func() SmallShared { return ours(poolswap.Options[small]{Portable: true}, sumAcquireRelease) },
	"WithAcquire": func() SmallShared { return ours(poolswap.Options[small]{}, sumWithAcquire) },
	"Reader.Load": func() SmallShared { return ours(poolswap.Options[small]{}, nil) },
	"atomic.Pointer": func() SmallShared {
		s := &atomicPtr[Words]{f: smallFunctions(nil)}
		return smallShared(s, func(n int) uint64 { return sumAtomicPointer(&s.current, n) }, nil)
	},
	"RWMutex": func() SmallShared {
		s := &mutexInPlace[Words]{only: new(small), reset: smallFunctions(nil).Reset}
		return smallShared(s, func(n int) uint64 { return sumLocked(s, n) }, one)
	},
	"RBMutex": rbMutex,
	"RWMutexRef": func() SmallShared {
		s := newRWMutexRef(smallFunctions(nil))
		return smallShared(s, func(n int) uint64 { return sumRWMutexRef(s, n) }, nil)
	},
}

// one is the count of objects of a way that overwrites its only object.
func one() int { return 1 }

// smallShared is the small object of a rival, whose loop is sum.
func smallShared(s Shared[Words], sum func(n int) uint64, objects func() int) SmallShared {
	Warm(s, smallFunctions(nil), 3)
	with := func(use func(*Words)) {
		obj := s.Acquire()
		use(&obj.Value)
		s.Release(obj)
	}
	return SmallShared{
		reader: func() reader { return reader{sum, with, func() {}} },
		swap: func(value uint64) {
			obj := s.GetNew()
			obj.Value.set(value)
			s.Update(obj)
		},
		objects: objects,
	}
}

type loop = func(c *poolswap.Container[small, *small], n int) uint64

// ours is a way of this library; without a loop, goroutines have a Reader each.
func ours(options poolswap.Options[small], sum loop) SmallShared {
	var made atomic.Int64
	s := NewPoolSwap(smallFunctions(func(*small) { made.Add(1) }), options)
	shared := smallShared(s, func(n int) uint64 { return sum(s.Container, n) }, func() int { return int(made.Load()) })
	if sum == nil {
		shared.reader = func() reader { return newReader(s.Container) }
	}
	return shared
}

// newReader reads with a Reader.
func newReader(c *poolswap.Container[small, *small]) reader {
	r := c.NewReader()
	return reader{
		sum:   func(n int) uint64 { return sumReaderLoad(r, n) },
		with:  func(use func(*Words)) { use(&r.Load().Value) },
		close: r.Close,
	}
}

func rbMutex() SmallShared {
	s := &biased{RBMutex: xsync.NewRBMutex()}
	s.obj.Value.set(1)
	with := func(use func(*Words)) {
		token := s.RLock()
		use(&s.obj.Value)
		s.RUnlock(token)
	}
	return SmallShared{
		reader: func() reader { return reader{func(n int) uint64 { return sumBiased(s, n) }, with, func() {}} },
		swap: func(value uint64) {
			s.Lock()
			s.obj.Value.set(value)
			s.Unlock()
		},
		objects: one,
	}
}
