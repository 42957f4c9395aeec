package refcount

import (
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// cleanup runs when the garbage collector has taken an object. The
// runtime keeps it from attach until it has run, so it must not reach the
// object, directly or through the pool: the collector would never take it.
// The counters do not: they have no pointers.
type cleanup struct {
	pool     weak.Pointer[Pool]
	key      weak.Pointer[Object] // in the registry
	address  uintptr              // for messages
	counters *stripe.Counters     // outlive the object, and have no pointers
}

// run settles the pool's stats, on a goroutine of the runtime, which runs the
// cleanups of the whole process one after the other: a Report that blocks or calls
// Goexit, as t.Fatal does, has a goroutine of its own. The object is unreachable,
// so no goroutine counts on it any more: the sums are final, and no state changes.
// If references are outstanding they can never be given back:
// the object was leaked. Its resources are not discarded, because
// Discard takes a pointer to it and it is gone.
func (c cleanup) run() {
	p := c.pool.Value()
	if p == nil {
		return // the pool was collected too
	}
	// The entry goes before the wake-up below, so that a Drain or Close that looks
	// again does not find the object.
	p.registry.remove(c.key)

	holders, suspects := p.tracer.references.leak(c.counters)

	// Settle the counts that the object would have changed on its way: each phase
	// has made another part of that way already. An object that is retiring cannot
	// be here, since its writer holds it, nor one that is unborn.
	stats := &p.stats
	state := c.counters.State.Load()
	switch phaseOf(state) {
	case discarded, lost:
		return // settled when it happened; a lost object may well be held
	case live: // its container was dropped without being emptied
		stats.objects.change(0, -1) // (G4)
		stats.retired.Add(1)
		stats.drained.Add(1)
		if c.counters.Publication.Traced.Load() {
			p.retiredTraced()
		}
	case retired:
		stats.drained.Add(1)
	case private: // its owner forgot it
		stats.private.Add(-1)
	}
	stats.collected.Add(1)
	stats.objects.change(-1, 0) // (G3)
	if phaseOf(state) != free {
		// Something may wait for the object. For one from the overflow nothing
		// does, and it is spared the wake-up, which is fatal where the waiting
		// goroutine is in a bubble of testing/synctest and this one is not.
		p.returned.wake()
	}

	// The sums are final, so this needs no fence: the collector has stopped every
	// processor since the last count.
	held := c.counters.Outstanding()
	if held > 0 {
		stats.leaked.Add(1)
	}
	switch {
	case p.Reports == nil:
	case held > 0:
		seam.Go(func() { p.Reports.Leak(held, holders) })
	case held < 0:
		released := c.counters.Released()
		e := OverReleaseError{p.TypeName, c.address, generationOf(state), c.counters.Acquired(), released, suspects}
		seam.Go(func() { p.Reports.OverRelease(e) })
	}
}
