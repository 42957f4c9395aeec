//go:build poolswapsched

package poolswap

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// StateOf returns the state word of obj.
func (p *Pool[T, P]) StateOf(obj *T) unsafe.Pointer {
	return unsafe.Pointer(&refOf(obj, p.offset).counters.Load().State)
}

// CountersOf returns how many stripes obj has, and the counters of each.
func (p *Pool[T, P]) CountersOf(obj *T) (stripes int, of func(k int) (acquired, released *seam.Count)) {
	counters := refOf(obj, p.offset).counters.Load()
	return counters.Stripes(), counters.Counts
}

// SetOnceOf returns the word of obj that says whether it has counters.
func (p *Pool[T, P]) SetOnceOf(obj *T) unsafe.Pointer { return refOf(obj, p.offset).counters.Set() }

// Shared calls label for each word of shared state that belongs to the pool.
func (p *Pool[T, P]) Shared(label func(at unsafe.Pointer, name string)) {
	label(unsafe.Pointer(&p.recycler.spares.mu.Held), "spares")
	label(unsafe.Pointer(&p.recycler.spares.awaiting), "awaiting")
	label(unsafe.Pointer(&p.recycler.sweeping), "sweeping")
	label(unsafe.Pointer(&p.recycler.tally.live), "live")
}

// Guarded calls found for each object that the spares hold, in order, with a
// nil between those that are clean and those that await their reset.
func (p *Pool[T, P]) Guarded(found func(obj *T)) {
	spares := &p.recycler.spares
	for _, ref := range spares.clean {
		found(objectOf[T](ref, p.offset))
	}
	found(nil)
	for ref := spares.awaiting.Load(); ref != nil; ref = ref.next {
		found(objectOf[T](ref, p.offset))
	}
}

// Accounts returns what the pool's accounts say of retired and discarded
// objects.
func (p *Pool[T, P]) Accounts() (retired, discarded uint64) {
	t := &p.recycler.tally
	return t.retired.Load() - t.drained.Load(), t.discarded.Load()
}

// Part returns the container's word of shared state.
func (c *Container[T, P]) Part() unsafe.Pointer { return unsafe.Pointer(&c.slot.current) }
