//go:build linux && amd64 && !purego && !race && !poolswapsched

package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// acquire is slot.acquire, and release is recycler.release, in assembly for
// the one case that matters: the container is not empty and nothing is being
// replaced. In every other case they undo what they did, if anything, and
// continue in those methods, which are the reference for what they do; the
// labels are the same.
//
// What the assembly saves is the pin. The runtime never preempts a goroutine
// inside an assembly function (to its asynchronous preemption such code is not
// a safe point, and a NOSPLIT function has no other), so from its first
// instruction to its last nobody else runs on this P, and no word of the
// runtime need be written to make it so. The order of loads and stores is the
// order of the instructions, whatever compiler and flags the rest was built
// with.

// acquire's last argument is nil. Its place is where the assembly puts the
// object that it counted on in vain, for acquireOn.
func acquire(s *slot, offset uintptr, failed *Ref) unsafe.Pointer

func release(p *recycler, obj unsafe.Pointer, offset uintptr)

// Where the number of the P is, as the assembly finds it: word mOffset of the
// goroutine's descriptor points to that of its thread, word pOffset of which
// points to that of its P, which begins with the number. mOffset is 0 where
// this is not known; then everything goes through the methods.
var mOffset, pOffset = seam.WhereP()

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

func acquireOn(s *slot, offset uintptr, failed *Ref) unsafe.Pointer {
	if failed != nil {
		return s.acquireAgain(failed, offset)
	}
	return s.acquire(offset)
}

func releaseOn(p *recycler, obj unsafe.Pointer, offset uintptr) { p.release(obj, offset) }

func releaseLate(_ *recycler, obj unsafe.Pointer, offset uintptr) {
	(*Ref)(unsafe.Add(obj, offset)).releasedLate()
}
