package refcount

import (
	"sync"
	"weak"

	"github.com/poolswap/poolswap/internal/stripe"
)

// registry knows every object that has counters of this pool and exists. A Ref
// that was overwritten with zeros looks like a new one; with new counters the
// pool would not see the readers that the old ones count.
//
// A weak pointer identifies an allocation, not an address. An object that the
// allocator puts where a collected one was has another weak pointer, so an
// entry that remove has not reached yet is never taken for the new object's.
type registry struct {
	mu      sync.Mutex
	objects map[weak.Pointer[Object]]*stripe.Counters // weak: the registry keeps no object alive
}

// add enters a new object. If the object is in already, it returns the
// counters that it had.
func (r *registry) add(obj *Object, counters *stripe.Counters) (had *stripe.Counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = make(map[weak.Pointer[Object]]*stripe.Counters)
	}
	key := weak.Make(obj)
	if had := r.objects[key]; had != nil {
		return had
	}
	r.objects[key] = counters
	return nil
}

// find returns the counters of an object that is in, or nil.
func (r *registry) find(obj *Object) *stripe.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects[weak.Make(obj)]
}

// remove takes out an object that was collected.
func (r *registry) remove(key weak.Pointer[Object]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.objects, key)
}

// cleanup is what is left of an object that the garbage collector took. The
// runtime keeps it from attach until it has run, so it must not reach the
// object, directly or through the pool: the collector would never take it.
// The counters do not: they have no pointers.
type cleanup struct {
	pool     weak.Pointer[Pool]
	key      weak.Pointer[Object] // in the registry
	address  uintptr              // for messages
	counters *stripe.Counters     // outlive the object, and have no pointers
}

// run settles the pool's stats, on a goroutine of the runtime. The object is
// unreachable, so no goroutine counts on it any more: the sums are final, and
// no state changes. If references are outstanding they can never be given back:
// the object was leaked. What the object owned is not discarded, because
// Discard takes a pointer to it and it is gone.
func (c cleanup) run() {
	p := c.pool.Value()
	if p == nil {
		return // the pool was collected too
	}
	p.registry.remove(c.key)
	stats := &p.stats
	state := c.counters.State.Load()
	switch phaseOf(state) {
	case discarded, lost:
		return // settled when it happened; a lost object may well be held
	case live: // its container was dropped without being emptied
		stats.retired.Add(1)
		stats.drained.Add(1)
	case retired:
		stats.drained.Add(1)
	}
	stats.collected.Add(1)
	stats.removeLive()
	held := c.counters.Outstanding()
	if held > 0 {
		stats.leaked.Add(1)
	}
	switch {
	case p.Reports == nil:
	case held > 0:
		p.Reports.Leak(held)
	case held < 0:
		released := c.counters.Released()
		p.Reports.OverRelease(Excess{p.TypeName, c.address, generationOf(state), c.counters.Acquired(), released})
	}
}
