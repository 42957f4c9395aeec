package refcount

import (
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// Object is the part of a user's object that the engine needs: four words that
// lie inside it. All that readers write lies outside, in counters, so that a
// reader that counts late never writes into memory of the user.
type Object struct {
	// counters holds the state word and the reference counts. The goroutine
	// that adopts the object sets it once, (N1), and it never changes: a
	// reader that lost a race may count here in any later generation.
	counters seam.SetOnce[stripe.Counters]

	// pool is where the object returns to. The adopting goroutine writes it
	// before the state first says private, (N2); constant from then on.
	pool *Pool

	// next links the dirty list. The goroutine that pushes the object writes
	// it before the push, the one that popped it after the pop. No two of them
	// meet on it, so a plain word would do. It is one of the seam's so that the
	// scheduler sees where the writes are.
	next seam.Pointer[Object]

	// self is the Object's own address, which tells a copied object from the
	// original. The heap does not move objects. Written like pool.
	self uintptr
}

// A state word holds the object's generation and its phase:
//
//	generation<<phaseBits | phase
//
// Only Get and the reuse of a discarded object add to the generation, so that
// a goroutine that summed the counts in one generation cannot free the object
// in the next one. All other transitions keep it.
//
//	            adopt               Update            retire
//	unborn ------------> private ------------> live ----------> retiring
//	                      ^   |                                    | heavy fence
//	           Get, gen+1 |   | given back                         v
//	                      |   v              drained             retired
//	                      free <--------------------------------- |
//	                       | refused by reset, or surplus          | over-released
//	                       v                                       v
//	                   discarded                                  lost
//
// An object is also lost when its heavy fence fails or its reset panics. A
// discarded object that comes back is private again. In each generation at
// most one goroutine makes the transition out of a phase:
//
//	from       to                        made by
//	unborn     private                   the goroutine that installed the counters, (N2)
//	private    live or free              the owner, (U1) or (B1)
//	private    discarded                 the call that adopted it, if Close overtook it, (N4)
//	live       retiring                  the writer whose swap took the object out, (T1)
//	retiring   retired or lost           the same writer, (T3) or (L1)
//	retired    free or lost              the winner of (S4), or the finder of an over-release, (L2)
//	free       private, discarded, lost  the owner of a free object: (G2), (K3) or (L3)
//	discarded  private                   the goroutine that brings it back, (N3)
type phase uint64

const (
	live      phase = iota // current in a container
	retiring               // replaced; the heavy fence is under way
	retired                // replaced; drains when its last reader releases it
	private                // owned by the goroutine that got it, not published
	free                   // in the pool, or on its way there
	discarded              // left the pool; adopted anew if it comes back
	lost                   // given up, left to the garbage collector
	unborn                 // being adopted
)

const (
	phaseBits      = 3
	phaseMask      = 1<<phaseBits - 1
	generationStep = 1 << phaseBits // added to a state word: the next generation
)

// phaseOf returns the phase in a state word.
func phaseOf(state uint64) phase { return phase(state & phaseMask) }

// generationOf returns the generation in a state word.
func generationOf(state uint64) uint64 { return state >> phaseBits }

// withPhase returns state with another phase and the same generation.
func withPhase(state uint64, p phase) uint64 { return state&^phaseMask | uint64(p) }
