package refcount

import (
	"fmt"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// This file is where private objects come from: the free list, the factory,
// and objects of the user's that were never in a pool.

// Get returns a private object. It fails with ErrLimit if MaxLive objects exist
// and none is free, and with ErrClosed if the pool is closed.
func (p *Pool) Get() (*Object, error) {
	for {
		// (G1) Take a free object. The mutex of the free list, or the
		// sync.Pool, passes it to this call alone. A dirty object is reset
		// here, so no more objects come into being than callers really hold.
		// Clean and dirty ones are looked for under one lock: the sweeper moves
		// objects from the one list to the other, and between two looks could
		// hide all of them.
		obj, clean, err := p.free.pop() // (G1)
		if clean || err != nil {
			return obj, err
		}
		if obj == nil {
			if obj, _ = p.overflow.Get().(*Object); obj == nil { // (G1) as well
				return p.create()
			}
		} else {
			if !p.tryReset(obj) {
				continue
			}
			if p.Spares == 0 { // the sweeper would have dropped it
				p.drop(obj)
				continue
			}
		}
		if !p.free.begin(obj) {
			p.drop(obj)
			return nil, ErrClosed
		}
		p.back.wake() // one that was dirty has arrived
		return obj, nil
	}
}

// begin begins a generation of a free object that is the caller's. The caller
// holds the mutex of the free list.
func (o *Object) begin() {
	// (G2) Begin a generation. A store will do: no other goroutine writes the
	// state of a free object that is in no list. The generation grows here, so a
	// checker that summed in an earlier one fails at (S4). The counts are not
	// reset: a late reader may have counted and not undone yet, and a reset would
	// make released exceed acquired, or hide a reference of this generation.
	counters := o.counters.Load()
	state := &counters.State
	state.Store(withPhase(state.Load()+generationStep, private)) // (G2)
	arrives(counters, counters.Publication.Leaving.Load())
}

// create returns a private object that the factory made.
func (p *Pool) create() (*Object, error) {
	// (G3) Room for one more. Under MaxLive the object is counted as live
	// before the factory is called, by a compare-and-swap from a value below
	// the limit, and counted down when it is gone: after Discard, when the
	// factory failed, when the object is lost or was collected. So the factory
	// is never called while that many are live. Objects that are adopted or
	// reused are never refused and are counted right after they became private.
	// A racing caller that brings the same object may have dropped it by then:
	// for a moment one too few is counted, never one too many.
	if !p.stats.reserve(p.MaxLive) {
		return nil, ErrLimit
	}
	made := false
	defer func() {
		if !made { // closed, the factory panicked, or its result was refused
			p.removeLive()
		}
	}()
	if !p.free.beginCreating() {
		return nil, ErrClosed
	}
	defer func() { p.free.endCreating(made) }()
	obj := p.Factory()
	if obj == nil {
		panic(fmt.Sprintf("poolswap: the factory of the pool of %s returned nil", p.TypeName))
	}
	if !p.attach(obj) {
		if _, again := p.reuse(obj); !again {
			p.checkOwn(obj, "Get")
			obj.panicMisuse("Get", "that is in use (the factory returned the same object twice?)")
		}
	}
	made = true
	p.stats.created.Add(1)
	return obj, nil
}

// adopt takes an object that did not come from a pool into this one, and returns
// its state word. It reports false if another goroutine did.
func (p *Pool) adopt(obj *Object) (owned uint64, adopted bool) {
	if !p.attach(obj) {
		return 0, false
	}
	p.stats.addLive()
	p.stats.adopted.Add(1)
	return uint64(private), true
}

// adoptDiscarded takes back an object that the pool had discarded, and returns its
// state word. It reports false for any other object.
func (p *Pool) adoptDiscarded(obj *Object) (owned uint64, adopted bool) {
	owned, adopted = p.reuse(obj)
	if adopted {
		p.stats.addLive()
		p.stats.adopted.Add(1)
	}
	return owned, adopted
}

// disown gives up an object that this call adopted as owned and did not publish.
// It is the caller's again, as before the call: neither reset nor Discard sees it.
// It reports false if another goroutine has taken the object.
func (p *Pool) disown(obj *Object, owned uint64) bool {
	// (N4) Private to discarded: what an Update adopted and Close overtook. The
	// object stays known, like any that left the pool, and can come back by (N3).
	// It is a compare-and-swap from the state of the adoption, so what a second
	// Update of the object has published, or a Release has given back, is left
	// alone. There is no mark: no function of the user's runs, so a Close that
	// looks sees private, and then discarded, and needs the wake-up after it.
	if !obj.counters.Load().State.CompareAndSwap(owned, withPhase(owned, discarded)) { // (N4)
		return false
	}
	p.stats.discarded.Add(1)
	p.removeLive()
	return true
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
	return true
}

// restore writes all fields of an object of this pool.
func (p *Pool) restore(obj *Object, counters *stripe.Counters) {
	obj.pool = p
	obj.self = uintptr(unsafe.Pointer(obj))
	obj.counters.Store(counters) // (N2) what it is already, unless the Ref was overwritten
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
	return owned, phaseOf(now) == discarded && obj.pool == p && obj.self == uintptr(unsafe.Pointer(obj)) &&
		state.CompareAndSwap(now, owned) // (N3)
}
