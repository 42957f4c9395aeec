//go:build (linux && amd64 && !purego && !race) || poolswapsched

package refcount

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/stripe"
)

// The assembly of read_amd64.s refers to these. The scheduler's build
// has it too, because its tests take the steps of the assembly one by one.

// Offsets of the number of the P, as the assembly finds it: the word at gM in
// the goroutine's descriptor points to that of its thread, the word at mP in
// that to that of its P, which begins with the number.
const (
	gM = 48
	mP = 208
)

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

// acquireFallback, releaseFallback and releaseLate are where the assembly
// continues.

func acquireFallback(s *Slot, failed *Object) unsafe.Pointer {
	if failed != nil {
		failed.validationFailed()
	}
	return s.acquire()
}

func releaseFallback(s *Slot, obj unsafe.Pointer) { s.pool.Release(obj, s.offset) }

func releaseLate(s *Slot, obj unsafe.Pointer) {
	(*Object)(unsafe.Add(obj, s.offset)).releaseRetired()
}
