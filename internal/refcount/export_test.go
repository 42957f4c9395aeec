package refcount

import (
	"sync/atomic"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// These methods set up hostile states that a test could not reach from outside
// in finite time.

// counts returns the two counters of stripe k. The layout is that of
// stripe.Counters: a header of one stripe, then the stripes, each of which
// begins with acquired and released.
func (o *Object) counts(k int) *[2]uint64 {
	const stripe = 128
	return (*[2]uint64)(unsafe.Add(unsafe.Pointer(o.counters.Load()), (1+k)*stripe))
}

// PresetCounts adds n to both counters of a stripe. No other goroutine may use
// o.
func (o *Object) PresetCounts(n uint64) {
	counts := o.counts(0)
	counts[0] += n
	counts[1] += n
}

// CountsOf returns the counts of stripe k.
func (o *Object) CountsOf(k int) (acquired, released uint64) {
	counts := o.counts(k)
	return atomic.LoadUint64(&counts[0]), atomic.LoadUint64(&counts[1])
}

// CountRelease counts one release and does not check for the last one, like a
// goroutine that is suspended in Release.
func (o *Object) CountRelease() {
	k := seam.Pin()
	o.counters.Load().CountReleased(k)
	seam.Unpin()
}

// ValidationFailed is the rest of an Acquire after it undid its count.
func (o *Object) ValidationFailed() { o.validationFailed() }

// Registered returns how many objects the registry knows.
func (p *Pool) Registered() int {
	p.registry.mu.Lock()
	defer p.registry.mu.Unlock()
	return len(p.registry.objects)
}

// Clean returns how many clean objects the free list has.
func (p *Pool) Clean() int {
	clean, _, _ := p.free.count()
	return clean
}

// SignalLeft reports whether some goroutine asked to be woken and was not.
func (p *Pool) SignalLeft() bool { return p.returned.signal.Load() != nil }

// SignalLeft reports whether some Wait asked to be woken and was not.
func (s *Slot) SignalLeft() bool { return s.waited.signal.Load() != nil }

// Forge makes o current without any check, as in a copied container.
func (s *Slot) Forge(o *Object) { s.current.Store(o) }

// Containers returns how many containers the pool knows.
func (p *Pool) Containers() int {
	p.slots.mu.Lock()
	defer p.slots.mu.Unlock()
	return len(p.slots.known)
}

// ReadsFast reports whether reads go through the assembly.
func (s *Slot) ReadsFast() bool { return s.useAsm.Load() == s }

// Traced returns of how many versions there are records.
func (p *Pool) Traced() int {
	r := &p.tracer.references
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.versions)
}
