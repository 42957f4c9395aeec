package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Hostile states that no test could bring about from outside in finite time.

// PresetCounts makes obj look as if it had been acquired and released n times
// more than it was. Nobody else may use obj.
func PresetCounts[T any, P Object[T]](obj P, n uint64) {
	// The layout is that of stripe.Counters: a header of one stripe, then the
	// stripe of the first P, which begins with acquired and released.
	const stripe = 128
	counts := (*[2]uint64)(unsafe.Add(unsafe.Pointer(obj.ref().counters.Load()), stripe))
	counts[0] += n
	counts[1] += n
}

// CountRelease counts one release of obj and stops there, like a Release whose
// goroutine was suspended before it looked whether it was the last.
func CountRelease[T any, P Object[T]](obj P) {
	k := seam.Pin()
	obj.ref().counters.Load().CountReleased(k)
	seam.Unpin()
}
