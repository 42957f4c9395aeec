package refcount

import (
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
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
	mu      seam.Mutex                      // never held while a function of the user runs
	objects map[weak.Pointer[Object]]*entry // weak: the registry keeps no object alive
	order   []*entry                        // the same, in an order that depends on nothing but the calls
}

// entry is an object in the registry.
type entry struct {
	counters *stripe.Counters
	at       int    // in order
	late     uint64 // the last version that was found to be held too long; guarded by the mutex

	// Snapshot taken by each; guarded by the mutex of the registry.
	phase phase
	mark  uint64 // Publication.Leaving
}

// each calls see with every object that is in, until it returns false. It reads
// the phase of the object and then its mark: an object that has left its owner
// or container is marked already, so if the phase says so, the mark is there
// unless the object has arrived since.
func (r *registry) each(see func(*entry) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.order {
		e.phase = phaseOf(e.counters.State.Load())
		e.mark = e.counters.Publication.Leaving.Load()
		if !see(e) {
			return
		}
	}
}

// any reports whether some object is as wanted says.
func (r *registry) any(wanted func(*entry) bool) (found bool) {
	r.each(func(e *entry) bool {
		found = wanted(e)
		return !found
	})
	return found
}

// add enters a new object. If the object is in already, it returns the
// counters that it had.
func (r *registry) add(obj *Object, counters *stripe.Counters) (had *stripe.Counters) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.objects == nil {
		r.objects = make(map[weak.Pointer[Object]]*entry)
	}
	key := weak.Make(obj)
	if e, known := r.objects[key]; known {
		return e.counters
	}
	e := &entry{counters: counters, at: len(r.order)}
	r.objects[key] = e
	r.order = append(r.order, e)
	return nil
}

// find returns the counters of an object that is in, or nil.
func (r *registry) find(obj *Object) *stripe.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.objects[weak.Make(obj)]; e != nil {
		return e.counters
	}
	return nil
}

// remove takes out an object that was collected.
func (r *registry) remove(key weak.Pointer[Object]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.objects[key]
	delete(r.objects, key)
	last := len(r.order) - 1
	r.order[e.at] = r.order[last]
	r.order[e.at].at = e.at
	r.order[last] = nil
	r.order = r.order[:last]
}
