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
