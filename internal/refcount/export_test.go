package poolswap

import (
	"sync/atomic"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Hostile states that no test could bring about from outside in finite time.

// counts returns the two counters of stripe k of an object. The layout is that
// of stripe.Counters: a header of one stripe, then the stripes, each of which
// begins with acquired and released.
func counts(r *Ref, k int) *[2]uint64 {
	const stripe = 128
	return (*[2]uint64)(unsafe.Add(unsafe.Pointer(r.counters.Load()), (1+k)*stripe))
}

// PresetCounts makes obj look as if it had been acquired and released n times
// more than it was. Nobody else may use obj.
func PresetCounts[T any, P Object[T]](obj P, n uint64) {
	of := counts(obj.ref(), 0)
	of[0] += n
	of[1] += n
}

// CountsOf returns what is counted for obj on stripe k.
func CountsOf[T any, P Object[T]](obj P, k int) (acquired, released uint64) {
	of := counts(obj.ref(), k)
	return atomic.LoadUint64(&of[0]), atomic.LoadUint64(&of[1])
}

// CountRelease counts one release of obj and stops there, like a Release whose
// goroutine was suspended before it looked whether it was the last.
func CountRelease[T any, P Object[T]](obj P) {
	k := seam.Pin()
	obj.ref().counters.Load().CountReleased(k)
	seam.Unpin()
}

// Forge makes obj current in c by the back door, as only a copied container can
// have it.
func Forge[T any, P Object[T]](c *Container[T, P], obj P) { c.slot.current.Store(obj.ref()) }
