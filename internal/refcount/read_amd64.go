//go:build linux && amd64 && !purego && !race && !poolswapsched

package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// acquire is slot.acquire, and release is recycler.release, in assembly for
// the one case that matters: the container is not empty and nothing is being
// replaced. In every other case they continue in those methods: an acquire that
// has counted undoes that first, and a release that has counted goes on where
// (R4) ends. The methods are the reference; the labels are the same.
//
// What the assembly saves is the pin. The runtime never preempts a goroutine
// inside an assembly function (to its asynchronous preemption such code is not
// a safe point, and a NOSPLIT function has no other), so from its first
// instruction to its last nobody else runs on this P, and no word of the
// runtime need be written to make it so. The order of loads and stores is the
// order of the instructions, whatever compiler and flags the rest was built
// with.

// acquire's first result says nothing. Its place is where the assembly puts the
// object that it counted on in vain, for acquireOn, whose argument it is.
func acquire(s *slot) (failed *Ref, obj unsafe.Pointer)

func release(s *slot, obj unsafe.Pointer)

// Where the number of the P is, as the assembly finds it: the word at gM in the
// goroutine's descriptor points to that of its thread, the word at mP in that
// to that of its P, which begins with the number.
const (
	gM = 48
	mP = 208
)

// direct tells whether the runtime has these where it is said here. If not, as
// with a later version of Go, everything goes through the methods: each
// container says so in its slot, where the assembly looks.
var direct = func() bool {
	m, p := seam.WhereP()
	return m == gM && p == mP
}()

// Constants for the assembler.
const (
	statePhaseMask   = phaseMask
	countersState    = stripe.StateOffset
	countersPlain    = stripe.PlainOffset
	countersOwned    = stripe.OwnedOffset
	countersAcquired = stripe.AcquiredOffset
	countersReleased = stripe.ReleasedOffset
	countersShift    = stripe.StripeShift
)

// acquireOn, releaseOn and releaseLate are where the assembly goes on.

func acquireOn(s *slot, failed *Ref) unsafe.Pointer {
	if failed != nil {
		failed.overtaken()
	}
	return s.acquire()
}

func releaseOn(s *slot, obj unsafe.Pointer) { s.pool.release(obj, s.offset) }

func releaseLate(s *slot, obj unsafe.Pointer) {
	(*Ref)(unsafe.Add(obj, s.offset)).releasedLate()
}
