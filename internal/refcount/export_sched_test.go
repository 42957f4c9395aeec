//go:build poolswapsched

package refcount

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// State returns the state word.
func (o *Object) State() unsafe.Pointer { return unsafe.Pointer(&o.counters.Load().State) }

// Counters returns how many stripes o has, and the counters of each.
func (o *Object) Counters() (stripes int, of func(k int) (acquired, released *seam.Count)) {
	counters := o.counters.Load()
	return counters.Stripes(), counters.Counts
}

// SetOnce returns the word that says whether o has counters.
func (o *Object) SetOnce() unsafe.Pointer { return o.counters.Set() }

// Shared calls label for each word of shared state that belongs to the pool.
func (p *Pool) Shared(label func(at unsafe.Pointer, name string)) {
	label(unsafe.Pointer(&p.free.mu.Held), "free list")
	label(unsafe.Pointer(&p.free.dirty), "dirty")
	label(unsafe.Pointer(&p.sweeping), "sweeping")
	label(unsafe.Pointer(&p.stats.live), "live")
}

// Guarded calls found for each object in the free list, in order, with a nil
// between those that are clean and those that are dirty.
func (p *Pool) Guarded(found func(o *Object)) {
	for _, o := range p.free.clean {
		found(o)
	}
	found(nil)
	for o := p.free.dirty.Load(); o != nil; o = o.next {
		found(o)
	}
}

// RetiredAndDiscarded returns what the pool's stats say of such objects.
func (p *Pool) RetiredAndDiscarded() (retired, discarded uint64) {
	s := &p.stats
	return s.retired.Load() - s.drained.Load(), s.discarded.Load()
}
