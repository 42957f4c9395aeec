package refcount

import (
	"sync"
	"weak"

	"github.com/poolswap/poolswap/internal/stripe"
)

// registry knows every object that has counters of this pool and exists. A Ref
// that was overwritten with zeros looks like a new one; with new counters the
// pool would not see the readers that the old ones count.
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

// remove takes out an object that was collected.
func (r *registry) remove(key weak.Pointer[Object]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.objects, key)
}

// cleanup is what is left of an object that the garbage collector took. It
// must not reach the object, directly or through the pool: the collector would
// never take it.
type cleanup struct {
	pool     weak.Pointer[Pool]
	key      weak.Pointer[Object] // in the registry
	address  uintptr              // for messages
	counters *stripe.Counters     // outlive the object, and have no pointers
}

// run settles the pool's stats. No goroutine can count on the object any more,
// so the sums are final. A held object was leaked: the collector found it
// unreachable and it can never be released.
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
		return // settled when it happened
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
