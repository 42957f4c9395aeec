package refcount

import (
	"cmp"
	"maps"
	"slices"
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
	objects map[weak.Pointer[Object]]entry // weak: the registry keeps no object alive
	entered uint64
}

// entry is an object in the registry.
type entry struct {
	counters *stripe.Counters
	number   uint64 // in the order in which objects were entered

	// What look found.
	phase phase
	mark  uint64 // Leaving; read after phase
}

// look reads the state of the object and then its mark. An object that has left
// its owner or container is marked already, so if the state says so, the mark
// is there unless the object has arrived since.
func (e *entry) look() *entry {
	e.phase = phaseOf(e.counters.State.Load())
	e.mark = e.counters.Publication.Leaving.Load()
	return e
}

// entries returns what is in, in the order in which it was entered. The caller
// looks at it without the mutex.
func (r *registry) entries() []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := slices.Collect(maps.Values(r.objects))
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	return found
}

// any reports whether some object is as wanted says.
func (r *registry) any(wanted func(*entry) bool) bool {
	for _, e := range r.entries() {
		if wanted(e.look()) {
			return true
		}
	}
	return false
}

// add enters a new object. If the object is in already, it returns the
// counters that it had.
func (r *registry) add(obj *Object, counters *stripe.Counters) (had *stripe.Counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = make(map[weak.Pointer[Object]]entry)
	}
	key := weak.Make(obj)
	if e, known := r.objects[key]; known {
		return e.counters
	}
	r.entered++
	r.objects[key] = entry{counters: counters, number: r.entered}
	return nil
}

// find returns the counters of an object that is in, or nil.
func (r *registry) find(obj *Object) *stripe.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.objects[weak.Make(obj)].counters
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
	p.removeLive()
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
