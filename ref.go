package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// Ref makes a type poolable: a type T whose values are to be swapped embeds it
// by value, by convention as the first field.
//
//	type Table struct {
//		poolswap.Ref
//		rows []row
//	}
//
// The zero Ref is ready for use. It belongs to the package: a program never
// reads, writes or copies it, never copies a T (go vet reports a copy, and so
// does the first operation on one that is not on the fast path), and never
// assigns to the whole of one that is in use, as in *t = T{} (which reset and
// Update refuse). A T whose
// Ref is embedded by pointer is refused by [NewPool].
//
// Ref is four words in the object. Beside it, each object has counters of its
// own, 128 bytes for each processor and 256 more, made when the object is first
// handed out or published.
type Ref struct {
	// counters holds the state word and the counts. It is set once, by the
	// goroutine that adopts the object, and never changes: a reader that lost
	// a race may count here in any later life of the object.
	counters seam.SetOnce[stripe.Counters]

	// pool is where the object returns to. Written before counters.State
	// first says private, constant from then on.
	pool *recycler

	// next links objects that await their reset. It belongs to whoever
	// recycles the object.
	next *Ref

	// self is the Ref's own address, which tells a copied object from the
	// original. The heap does not move objects.
	self uintptr
}

// ref is what the constraint [Object] asks for: only a type that embeds Ref
// has it.
func (r *Ref) ref() *Ref { return r }

// Object is satisfied by *T for every T that embeds [Ref] by value. Programs
// need not name it: it is inferred.
type Object[T any] interface {
	*T
	ref() *Ref
}

// objectOf returns the T whose Ref is at offset in it, or nil for nil.
func objectOf[T any](r *Ref, offset uintptr) *T {
	if r == nil {
		return nil
	}
	return (*T)(unsafe.Add(unsafe.Pointer(r), -int(offset)))
}

// refOf returns the Ref at offset in obj, or nil for nil. The method ref would
// do the same, but through a call that does not inline.
func refOf[T any](obj *T, offset uintptr) *Ref {
	if obj == nil {
		return nil
	}
	return (*Ref)(unsafe.Add(unsafe.Pointer(obj), offset))
}
