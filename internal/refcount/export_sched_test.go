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

// Next returns the word that links o in the dirty list.
func (o *Object) Next() unsafe.Pointer { return unsafe.Pointer(&o.next) }

// SetOnce returns the word that says whether o has counters.
func (o *Object) SetOnce() unsafe.Pointer { return o.counters.Set() }

// IsKnown reports whether a pool has ever known o.
func (o *Object) IsKnown() bool { return o.counters.Load() != nil }

// Shared calls label for each word of shared state that belongs to the pool.
func (p *Pool) Shared(label func(at unsafe.Pointer, name string)) {
	label(unsafe.Pointer(&p.free.mu.Held), "free list")
	label(unsafe.Pointer(&p.free.dirty), "dirty")
	label(unsafe.Pointer(&p.sweeping), "sweeping")
	label(unsafe.Pointer(&p.stats.objects), "objects")
	label(unsafe.Pointer(&p.registry.mu.Held), "registry")
	label(unsafe.Pointer(&p.versions), "versions")
	label(unsafe.Pointer(&p.leavings), "leavings")
	label(unsafe.Pointer(&p.tracer.on), "tracing")
	label(unsafe.Pointer(&p.tracer.mu.Held), "tracer")
	label(unsafe.Pointer(&p.tracer.references.mu.Held), "records")
	label(p.Asked(), "returned")
}

// Asked returns the word that is not 0 while a goroutine waits for objects, or
// is about to.
func (p *Pool) Asked() unsafe.Pointer { return unsafe.Pointer(&p.returned.signal) }

// Shared calls label for each word of shared state that belongs to the slot.
func (s *Slot) Shared(label func(at unsafe.Pointer, name string)) {
	label(unsafe.Pointer(&s.current), "current")
	label(unsafe.Pointer(&s.version), "version")
	label(unsafe.Pointer(&s.useAsm), "assembly")
	label(unsafe.Pointer(&s.turn), "turn")
	label(unsafe.Pointer(s.closing), "closing")
	label(unsafe.Pointer(&s.changed.signal), "changed")
	label(unsafe.Pointer(&s.waited.signal), "waited")
	label(unsafe.Pointer(&s.mu.Held), "mutex")
}

// Guarded returns the words that the slot has under its mutex.
func (s *Slot) Guarded() (swaps uint64, closed bool) { return s.swaps, s.closed }

// Publication returns the words of the last publication of o.
func (o *Object) Publication() (version, leaving unsafe.Pointer) {
	publication := &o.counters.Load().Publication
	return unsafe.Pointer(&publication.Version), unsafe.Pointer(&publication.Leaving)
}

// PublishedIn returns the number of the container that o was published in last, or
// 0 if it has no counters.
func (o *Object) PublishedIn() uint64 {
	counters := o.counters.Load()
	if counters == nil {
		return 0
	}
	return counters.Publication.Container.Load()
}

// Guarded calls found for each object in the free list, in order, with a nil
// between those that are clean and those that are dirty.
func (p *Pool) Guarded(found func(o *Object)) {
	for _, o := range p.free.clean {
		found(o)
	}
	found(nil)
	for o := p.free.dirty.Load(); o != nil; o = o.next.Load() {
		found(o)
	}
}

// Recorded returns how many references to o are recorded, how many Releases found no
// record of their goroutine, and whether its version is traced.
func (p *Pool) Recorded(o *Object) (references, suspects int, traced bool) {
	v := p.tracer.references.versions[o.counters.Load()]
	if v == nil {
		return 0, 0, false
	}
	return len(v.holders), len(v.suspects), true
}

// Tracer stands for the words that the tracer has under its mutex.
func (p *Pool) Tracer() (state uint64) {
	t := &p.tracer
	state = uint64(t.wanted)<<32 | uint64(t.live)<<1
	if t.slow {
		state++
	}
	return state
}

// Creating returns how many calls are making an object, and whether the pool is
// closed.
func (p *Pool) Creating() (calls int, closed bool) { return p.free.creating, p.free.closed }

// Counted returns the numbers of such objects in the pool's stats.
func (p *Pool) Counted() (current, retired, discarded uint64) {
	s := &p.stats
	_, now := s.objects.load()
	return uint64(now), s.retired.Load() - s.drained.Load(), s.discarded.Load()
}

// LetLimitFall makes the limit of spares follow the work: it is now, and after
// gets more calls of Get it is as many as they needed. No object is private.
func (p *Pool) LetLimitFall(now, gets int) {
	p.free.limit = spareLimit{now: now, least: 1, most: now, last: now, gets: roundOfGets - gets}
}

// Private returns how many objects are private, as the limit of spares counts them.
func (p *Pool) Private() int { return int(p.stats.private.Load()) }
