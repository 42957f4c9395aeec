// Package rivals holds the ways to share one object between readers and a writer
// who replaces it, each written as well as it can be: a heavy object behind one
// interface, and a small one that loops read.
package rivals

import (
	"sync/atomic"

	"github.com/poolswap/poolswap"
)

// Way describes a rival.
type Way struct{ Name, Is string }

// Ways are the rivals of the suites that share one object between readers and
// a writer, in the order in which suites show them.
var Ways = []Way{
	{"PoolSwap", "this library: readers Acquire and Release the object; after the last one the pool empties it and a writer fills it again"},
	{"WithAcquire", "the same with WithAcquire, which calls a function in between"},
	{"Reader.Load", "this library in a loop: a goroutine keeps its object until there is a newer one"},
	{"Portable", "PoolSwap with atomic counting, as on systems without membarrier"},
	{"AtomicPtr", "a new object for each update, swapped by an atomic.Pointer; the garbage collector takes the old one"},
	{"atomic.Pointer", "the Load of an AtomicPtr by itself"},
	{"MutexAlloc", "AtomicPtr with a sync.RWMutex around the pointer"},
	{"MutexInPlace", "one object, filled again under the write lock of a sync.RWMutex; readers wait"},
	{"RWMutex", "the read lock of a MutexInPlace by itself"},
	{"RWMutexRef", "RWMutex and count, the usual way to recycle: pointer and number of holders under a sync.RWMutex, old objects in a sync.Pool"},
	{"Unsynchronized", "no sharing at all: the best that the machine can do"},
}

// Object is the object that is shared. It carries the bookkeeping of every
// rival, so that all share objects of the same size and layout.
type Object[T any] struct {
	poolswap.Ref
	holders atomic.Int64 // of RWMutexRef
	Value   T
}

// Shared is one way to share an object. Readers call Acquire and Release, a
// writer GetNew, then fills the object, then Update. Calls through it are not
// inlined: where a read of a small object is all that is measured, loops call
// the rivals themselves.
type Shared[T any] interface {
	Acquire() *Object[T]
	Release(*Object[T])
	GetNew() *Object[T]
	Update(*Object[T])
}

// Functions make the objects that are shared.
type Functions[T any] struct {
	New   func() T         // a new value, empty, with room for its content
	Reset func(*T)         // empties a value and keeps its memory
	Fill  func(*T)         // fills an empty value
	Made  func(*Object[T]) // if not nil, called with each new object
}

func (f *Functions[T]) make() *Object[T] {
	obj := &Object[T]{Value: f.New()}
	if f.Made != nil {
		f.Made(obj)
	}
	return obj
}

// Replace makes a new object current.
func (f *Functions[T]) Replace(s Shared[T]) {
	obj := s.GetNew()
	f.Fill(&obj.Value)
	s.Update(obj)
}

// New returns the rival of that name, empty but for Unsynchronized, which is for
// one goroutine and has one copy more with "+1". PoolSwap has that many spares, or
// the default of the library where spares is 0.
func New[T any](name string, f *Functions[T], spares int) Shared[T] {
	switch name {
	case "PoolSwap":
		return NewPoolSwap(f, poolswap.Options[Object[T]]{Spares: spares})
	case "RWMutexRef":
		return newRWMutexRef(f)
	case "AtomicPtr":
		return &atomicPtr[T]{f: f}
	case "MutexAlloc":
		return &mutexAlloc[T]{f: f}
	case "MutexInPlace":
		return &mutexInPlace[T]{only: f.make(), reset: f.Reset}
	case "Unsynchronized":
		return newUnsynchronized(f, 1)
	case "Unsynchronized+1":
		return newUnsynchronized(f, 2)
	}
	panic("bench: no rival " + name)
}

// Warm brings objects into being, as many as will be in use at a time, so that
// none need be made while a clock runs. The last one is current afterwards.
func Warm[T any](s Shared[T], f *Functions[T], objects int) {
	if _, ok := s.(interface{ recycles() }); !ok {
		objects = 1
	}
	made := make([]*Object[T], objects)
	for i := range made {
		made[i] = s.GetNew()
		f.Fill(&made[i].Value)
	}
	for _, obj := range made {
		s.Update(obj)
	}
}
