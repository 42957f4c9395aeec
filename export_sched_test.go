//go:build poolswapsched

package poolswap

import (
	"fmt"
	"unsafe"
)

// Parts calls name for each word of shared state that belongs to obj.
func (p *Pool[T, P]) Parts(obj *T, name func(at unsafe.Pointer, part string)) {
	counters := refOf(obj, p.offset).counters.Load()
	name(unsafe.Pointer(&counters.State), "state")
	for k := range counters.Stripes() {
		acquired, released := counters.Counts(k)
		name(unsafe.Pointer(acquired), fmt.Sprintf("acquired[%d]", k))
		name(unsafe.Pointer(released), fmt.Sprintf("released[%d]", k))
	}
}

// Shared calls name for each word of shared state that belongs to the pool.
func (p *Pool[T, P]) Shared(name func(at unsafe.Pointer, part string)) {
	name(unsafe.Pointer(&p.recycler.spares.mu.Held), "spares")
	name(unsafe.Pointer(&p.recycler.spares.awaiting), "awaiting")
	name(unsafe.Pointer(&p.recycler.sweeping), "sweeping")
}

// Part returns the container's word of shared state.
func (c *Container[T, P]) Part() unsafe.Pointer { return unsafe.Pointer(&c.slot.current) }
