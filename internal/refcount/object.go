package poolswap

// A state word holds the object's generation and its phase:
//
//	generation<<phaseBits | phase
//
// The generation grows each time the object leaves the pool, so that a
// goroutine that summed the counts in one life cannot end the next one.
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
// An object is lost too when its heavy fence fails or its reset panics, and a
// discarded one that comes back is private again.
type phase uint64

const (
	live      phase = iota // current in a container
	retiring               // replaced; the heavy fence is under way
	retired                // replaced; drains when the last reader lets go
	private                // owned by the goroutine that got it, not published
	free                   // in the pool, or on its way there
	discarded              // out of the pool's hands; adopted anew if it comes back
	lost                   // left to the garbage collector
	unborn                 // being adopted
)

const (
	phaseBits = 3
	phaseMask = 1<<phaseBits - 1
	nextLife  = 1 << phaseBits // added to a state word, the next generation
)

func phaseOf(state uint64) phase { return phase(state & phaseMask) }

// in returns the state of the same generation in phase p.
func in(state uint64, p phase) uint64 { return state&^phaseMask | uint64(p) }
