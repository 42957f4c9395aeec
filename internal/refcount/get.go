package refcount

import "fmt"

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
			// No free object is in a list. One in the sync.Pool is clean; which of
			// them is found, if any, is up to the sync.Pool, and (K2) put there only
			// those that need not be found.
			if obj, _ = p.overflow.Get().(*Object); obj == nil { // (G1) as well
				return p.create()
			}
		} else {
			// It is this call's from the pop on, and marked, so Drain and Close
			// wait for it while its reset runs without a lock. If reset refuses it,
			// the next one is tried.
			if !p.tryReset(obj) {
				continue
			}
			if p.Spares == 0 { // the sweeper would have dropped it
				p.drop(obj)
				continue
			}
		}
		// The pool may have closed since the pop: (D4) and the step to private are
		// under one mutex, so either Close finds the object private, or this call
		// finds the pool closed.
		if !p.free.beginReset(obj) {
			p.drop(obj)
			return nil, ErrClosed
		}
		p.returned.wake() // one that was dirty has arrived
		return obj, nil
	}
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
	// From here to endCreating a Close of the pool waits for this call: the object
	// is in no list and not in the registry yet. The call ends before its object
	// is counted down, since deferred calls run in that order.
	if !p.free.beginCreating() {
		return nil, ErrClosed
	}
	defer func() { p.free.endCreating(made) }()
	obj := p.Factory()
	if obj == nil {
		panic(fmt.Sprintf("poolswap: the factory of the pool of %s returned nil", p.TypeName))
	}
	// A factory may return an object that it has kept: one that the pool has
	// discarded begins another generation, any other is in use or not this pool's.
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
