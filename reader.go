package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Reader reads a [Container] in a loop for one goroutine. While nothing is
// replaced, Load is one atomic load and a compare: it counts nothing and
// writes nothing. It holds the object that it returned last; that object stays
// valid until the next Load, Park or Close of this Reader.
//
// An idle Reader delays the recycling of the object that it holds (visible in
// Stats.Retired), never the safety of anything: Park it before a long wait.
// A Reader that is dropped without Close loses the object that it holds to
// recycling; see [Leak].
//
// A Reader belongs to one goroutine at a time and must not be copied. It is
// made by [Container.NewReader]; the zero Reader is not usable: its methods
// panic like those of a nil pointer. Load, Park and Close can also panic where
// [Container.Release] does, for a Release too many that they come upon.
type Reader[T any] struct {
	_ noCopy

	current *seam.Pointer[Ref] // the container's; closedSlot's once closed
	ref     *Ref               // held, or nil
	obj     *T                 // the object of ref, or nil

	slot *slot
}

// closedSlot is where a closed Reader looks: never empty, and what is in it is
// never held, so Load always leaves its fast path.
var closedSlot = func() *slot {
	s := new(slot)
	s.current.Store(new(Ref))
	return s
}()

// Load returns the current object, or nil if the container is empty. The
// object is valid until the next Load, Park or Close. Load never blocks. It
// panics if the Reader is closed.
func (r *Reader[T]) Load() *T {
	if r.current.Load() == r.ref { // held by this Reader, so it cannot have been recycled and come back
		return r.obj
	}
	return r.reload()
}

// reload lets go of the object held and takes the current one.
func (r *Reader[T]) reload() *T {
	r.Park()
	if r.slot == closedSlot {
		panic("poolswap: Load of a closed Reader")
	}
	_, obj := acquire(r.slot)
	r.obj = (*T)(obj)
	r.ref = refOf(r.obj, r.slot.offset)
	return r.obj
}

// Park lets go of the object held, if any. The next Load takes one again.
func (r *Reader[T]) Park() {
	held := r.obj
	r.ref, r.obj = nil, nil
	release(r.slot, unsafe.Pointer(held))
}

// Close lets go of the object held and ends the use of the Reader. Closing
// twice does nothing.
func (r *Reader[T]) Close() {
	r.Park()
	r.slot = closedSlot
	r.current = &closedSlot.current
}

// noCopy makes go vet report copies of the struct that contains it.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
