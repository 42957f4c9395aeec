package refcount

import (
	"sync/atomic"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Hostile states that no test could bring about from outside in finite time.

// counts returns the two counters of stripe k. The layout is that of
// stripe.Counters: a header of one stripe, then the stripes, each of which
// begins with acquired and released.
func (o *Object) counts(k int) *[2]uint64 {
	const stripe = 128
	return (*[2]uint64)(unsafe.Add(unsafe.Pointer(o.counters.Load()), (1+k)*stripe))
}

// PresetCounts makes o look as if it had been acquired and released n times
// more than it was. No other goroutine may use o.
func (o *Object) PresetCounts(n uint64) {
	of := o.counts(0)
	of[0] += n
	of[1] += n
}

// CountsOf returns what is counted on stripe k.
func (o *Object) CountsOf(k int) (acquired, released uint64) {
	of := o.counts(k)
	return atomic.LoadUint64(&of[0]), atomic.LoadUint64(&of[1])
}

// CountRelease counts one release and stops there, like a Release whose
// goroutine was suspended before it checked whether it was the last.
func (o *Object) CountRelease() {
	k := seam.Pin()
	o.counters.Load().CountReleased(k)
	seam.Unpin()
}

// Forge makes o current by the back door, as only a copied container can have
// it.
func (s *Slot) Forge(o *Object) { s.current.Store(o) }
