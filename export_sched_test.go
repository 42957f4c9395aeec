//go:build poolswapsched

package poolswap

import (
	"fmt"
	"unsafe"
)

// Parts calls label for each word of shared state that belongs to obj, with
// what says how to call it.
func (p *Pool[T, P]) Parts(obj *T, label func(at unsafe.Pointer, name func() string)) {
	counters := refOf(obj, p.offset).counters.Load()
	label(unsafe.Pointer(&counters.State), func() string { return "state" })
	for k := range counters.Stripes() {
		acquired, released := counters.Counts(k)
		label(unsafe.Pointer(acquired), func() string { return fmt.Sprintf("acquired[%d]", k) })
		label(unsafe.Pointer(released), func() string { return fmt.Sprintf("released[%d]", k) })
	}
}

// Shared calls label for each word of shared state that belongs to the pool.
func (p *Pool[T, P]) Shared(label func(at unsafe.Pointer, name func() string)) {
	label(unsafe.Pointer(&p.recycler.spares.mu.Held), func() string { return "spares" })
	label(unsafe.Pointer(&p.recycler.spares.awaiting), func() string { return "awaiting" })
	label(unsafe.Pointer(&p.recycler.sweeping), func() string { return "sweeping" })
}

// Part returns the container's word of shared state.
func (c *Container[T, P]) Part() unsafe.Pointer { return unsafe.Pointer(&c.slot.current) }
