package rivals

import (
	"sync/atomic"

	"github.com/poolswap/poolswap"
)

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
	New   func() T         // a new value, empty, with room for what it will hold
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

// Warm brings objects into being, as many as will be in use at a time, so that
// none need be made while a clock runs. The last one is current afterwards.
func Warm[T any](s Shared[T], f *Functions[T], objects int) {
	if _, ok := s.(recycling); !ok {
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

// recycling is implemented by rivals that recycle several objects.
type recycling interface{ recycles() }
