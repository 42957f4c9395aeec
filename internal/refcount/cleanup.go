package poolswap

import (
	"fmt"
	"weak"

	"github.com/poolswap/poolswap/internal/stripe"
)

// remains is what is left of an object that the garbage collector has taken.
// It must not reach the object, directly or through the pool, or the object
// would never be taken.
type remains struct {
	pool     weak.Pointer[recycler]
	ref      weak.Pointer[Ref] // the key under which the pool knows it
	counters *stripe.Counters
}

// settle brings the accounts of the pool up to date. It runs as the cleanup of
// the object: nobody can count on it any more, so the sums are final.
func (m remains) settle() {
	p := m.pool.Value()
	if p == nil {
		return // the pool went too: nobody asks
	}
	p.known.forget(m.ref)
	t := &p.tally
	switch phaseOf(m.counters.State.Load()) {
	case discarded, lost:
		return // settled when it happened
	case live: // its container was dropped without being emptied
		t.retired.Add(1)
		t.drained.Add(1)
	case retired:
		t.drained.Add(1)
	}
	t.collected.Add(1)
	t.gone()
	switch held := m.counters.Outstanding(); {
	case held > 0:
		t.leaked.Add(1)
		p.tell(&Leak{Type: p.typeName, Held: held})
	case held < 0:
		p.tell(fmt.Errorf("poolswap: a %s that was dropped had been released more often than it was acquired: %d too many (released twice?)", p.typeName, -held))
	}
}
