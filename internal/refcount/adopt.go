package refcount

import (
	"fmt"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// adopt takes an object that did not come from a pool into this one, and returns
// its state word. It reports false if another goroutine did.
func (p *Pool) adopt(obj *Object) (owned uint64, adopted bool) {
	if !p.attach(obj) {
		return 0, false
	}
	p.stats.objects.change(1, 0) // (G3)
	p.stats.adopted.Add(1)
	return uint64(private), true
}

// adoptDiscarded takes back an object that the pool had discarded, and returns its
// state word. It reports false for any other object.
func (p *Pool) adoptDiscarded(obj *Object) (owned uint64, adopted bool) {
	owned, adopted = p.reuse(obj)
	if adopted {
		p.stats.objects.change(1, 0) // (G3)
		p.stats.adopted.Add(1)
	}
	return owned, adopted
}

// disown gives up an object that this call adopted as owned and did not publish.
// It is the caller's again, as before the call: neither reset nor Discard sees it.
// It does nothing if another goroutine has taken the object.
func (p *Pool) disown(obj *Object, owned uint64) {
	// (N4) Private to discarded: Close overtook the Update that adopted it. The
	// object stays known, like any that left the pool, and can come back by (N3).
	// It is a compare-and-swap from the state of the adoption, so an object
	// that a second Update has published, or a Release has given back, is left
	// alone. There is no mark: no function of the user's runs, so a Close that
	// looks sees private, and then discarded, and needs the wake-up after it.
	if !obj.counters.Load().State.CompareAndSwap(owned, withPhase(owned, discarded)) { // (N4)
		return
	}
	p.stats.private.Add(-1)
	p.stats.discarded.Add(1)
	p.removeLive()
}

// attach gives a new object its counters and makes it private. It returns
// false if counters are attached, and panics if the Ref was overwritten.
func (p *Pool) attach(obj *Object) bool {
	// (N1) Install the counters. If two calls bring one new object, one
	// installs its counters and goes on. The other finds them: while their
	// state says unborn it is refused, for the other fields are being written
	// and must not be read; once it says private, (U1) decides.
	counters := stripe.New(p.Portable)
	counters.State.Store(uint64(unborn))             // (N1)
	if !obj.counters.CompareAndSwap(nil, counters) { // (N1)
		return false
	}
	if had := p.registry.add(obj, counters); had != nil {
		p.restore(obj, had)
		panic(fmt.Sprintf("poolswap: the Ref of a %s was overwritten after the pool had handed it out (by *t = T{…}? assign to the other fields)", p.TypeName))
	}
	p.restore(obj, counters)
	seam.AddCleanup(obj, cleanup.run, cleanup{weak.Make(p), weak.Make(obj), obj.self, counters})

	// (N2) Private. The state is stored after the fields, so a goroutine that
	// does not read unborn reads the fields as they stay. No reader could
	// acquire the object before, so there is no earlier generation to tell
	// this one from.
	counters.State.Store(uint64(private)) // (N2)
	p.stats.private.Add(1)
	return true
}

// restore writes all fields of an object of this pool.
func (p *Pool) restore(obj *Object, counters *stripe.Counters) {
	obj.pool = p
	obj.self = uintptr(unsafe.Pointer(obj))
	obj.counters.Store(counters) // (N2) the same as before, unless the Ref was overwritten
}

// reuse begins a generation of a discarded object of this pool, as private, and
// returns its state word. It returns false for any other object.
func (p *Pool) reuse(obj *Object) (owned uint64, again bool) {
	// (N3) Back from discarded, by a compare-and-swap to the next generation:
	// one racing caller wins, and a checker that summed in an earlier
	// generation fails at (S4). The counts go on, as at (G2).
	state := &obj.counters.Load().State
	now := state.Load()
	owned = withPhase(now+generationStep, private)
	if phaseOf(now) != discarded || obj.pool != p || obj.self != uintptr(unsafe.Pointer(obj)) ||
		!state.CompareAndSwap(now, owned) { // (N3)
		return 0, false
	}
	p.stats.private.Add(1)
	return owned, true
}
