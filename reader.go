package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Reader reads a [Container] in a loop for one goroutine. While nothing is
// replaced, Load is one atomic load and a compare: it counts nothing and
// writes nothing. It holds the object that it returned last, which stays valid
// until the next Load, Park or Close of this Reader.
//
// An idle Reader delays the recycling of the object that it holds, which
// Stats.Retired shows; it delays nothing else. Park it before a long wait. A
// Reader that is dropped without Close loses the object that it holds to
// recycling; see [LeakError].
//
// A Reader belongs to one goroutine at a time and must not be copied. It is
// made by [Container.NewReader]; in a build with the tag poolswapdebug, Load
// panics if another goroutine has loaded since the last Park. The methods of the zero Reader panic like
// those of a nil pointer. Load, Park and Close can also panic where
// [Container.Release] does, for an over-release that they find.
type Reader[T any] struct {
	_    noCopy
	user readerUser

	current *refcount.Current // the container's; that of refcount.Closed once closed
	held    *refcount.Object  // by this Reader, or nil
	obj     *T                // the object that contains held, or nil

	slot *refcount.Slot
}

// Load returns the current object, or nil if the container is empty. The
// object is valid until the next Load, Park or Close. Do not give it to Release, or
// to another goroutine that may use it longer. Load never blocks. It panics if the
// Reader is closed.
func (r *Reader[T]) Load() *T {
	if debugBuild {
		r.user.check()
	}
	if r.current.Load() == r.held { // held by this Reader, so it cannot have been recycled and come back
		return r.obj
	}
	return r.reload()
}

// reload releases the held object and takes the current one.
func (r *Reader[T]) reload() *T {
	r.giveBack()
	if r.slot == refcount.Closed {
		panic("poolswap: Load of a closed Reader")
	}
	_, obj := refcount.Acquire(r.slot)
	r.obj = (*T)(obj)
	r.held = engineObject(r.obj, r.slot.Offset())
	return r.obj
}

// Park releases the held object, if any. The next Load takes one again.
func (r *Reader[T]) Park() {
	if debugBuild {
		r.user.leave()
	}
	r.giveBack()
}

func (r *Reader[T]) giveBack() {
	obj := r.obj
	r.held, r.obj = nil, nil
	refcount.Release(r.slot, unsafe.Pointer(obj))
}

// Close releases the held object and ends the use of the Reader. Closing twice
// does nothing.
func (r *Reader[T]) Close() {
	r.Park()
	r.slot = refcount.Closed
	r.current = refcount.Closed.Current()
}

// noCopy makes go vet report copies of the struct that contains it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
