//go:build poolswapsched

package seam

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Uint64 is a word of shared state.
type Uint64 struct{ v atomic.Uint64 }

// Load reads the word.
func (u *Uint64) Load() uint64 {
	m := step(OpLoad, unsafe.Pointer(u))
	value := u.v.Load()
	observe(m, unsafe.Pointer(u), value)
	return value
}

// Store writes the word.
func (u *Uint64) Store(value uint64) {
	step(OpStore, unsafe.Pointer(u))
	u.v.Store(value)
}

// CompareAndSwap writes the word if it equals old.
func (u *Uint64) CompareAndSwap(old, value uint64) bool {
	m := step(OpCompareAndSwap, unsafe.Pointer(u))
	done := u.v.CompareAndSwap(old, value)
	observe(m, unsafe.Pointer(u), bit(done))
	return done
}

// Add adds to the word.
func (u *Uint64) Add(delta uint64) {
	step(OpAdd, unsafe.Pointer(u))
	u.v.Add(delta)
}

// Bool is a shared flag, a word that is 0 or 1.
type Bool struct{ word Uint64 }

// Load reads the flag.
func (b *Bool) Load() bool { return b.word.Load() != 0 }

// Store writes the flag.
func (b *Bool) Store(value bool) { b.word.Store(bit(value)) }

// CompareAndSwap writes the flag if it equals old.
func (b *Bool) CompareAndSwap(old, value bool) bool {
	return b.word.CompareAndSwap(bit(old), bit(value))
}

// Pointer is a shared pointer.
type Pointer[T any] struct{ v atomic.Pointer[T] }

// Load reads the pointer.
func (p *Pointer[T]) Load() *T {
	m := step(OpLoad, unsafe.Pointer(p))
	value := p.v.Load()
	observe(m, unsafe.Pointer(p), uint64(uintptr(unsafe.Pointer(value))))
	return value
}

// Store writes the pointer.
func (p *Pointer[T]) Store(value *T) {
	step(OpStore, unsafe.Pointer(p))
	p.v.Store(value)
}

// Swap writes the pointer and returns the previous one.
func (p *Pointer[T]) Swap(value *T) *T {
	m := step(OpSwap, unsafe.Pointer(p))
	old := p.v.Swap(value)
	observe(m, unsafe.Pointer(p), uint64(uintptr(unsafe.Pointer(old))))
	return old
}

// CompareAndSwap writes the pointer if it equals old.
func (p *Pointer[T]) CompareAndSwap(old, value *T) bool {
	m := step(OpCompareAndSwap, unsafe.Pointer(p))
	done := p.v.CompareAndSwap(old, value)
	observe(m, unsafe.Pointer(p), bit(done))
	return done
}

// SetOnce is a shared pointer that is nil until a compare-and-swap sets it, and
// constant from then on.
type SetOnce[T any] struct {
	v   atomic.Pointer[T]
	set uint64 // 1 once v is set; the word that the Machine sees
}

// Load reads the pointer. It is a step only while the pointer is nil.
func (p *SetOnce[T]) Load() *T {
	m := machine()
	if m != nil && p.v.Load() == nil {
		m.Observe(unsafe.Pointer(&p.set), 0) // that it is nil, which makes this load a step
		m.Step(OpLoad, unsafe.Pointer(&p.set))
	}
	value := p.v.Load()
	observe(m, unsafe.Pointer(&p.set), bit(value != nil))
	return value
}

// CompareAndSwap sets the pointer if it equals old, which is nil.
func (p *SetOnce[T]) CompareAndSwap(old, value *T) bool {
	m := step(OpCompareAndSwap, unsafe.Pointer(&p.set))
	done := p.v.CompareAndSwap(old, value)
	if done {
		p.set = 1
	}
	observe(m, unsafe.Pointer(&p.set), bit(done))
	return done
}

// Set returns the word that the Machine sees.
func (p *SetOnce[T]) Set() unsafe.Pointer { return unsafe.Pointer(&p.set) }

// Store restores the pointer after it was overwritten.
func (p *SetOnce[T]) Store(value *T) {
	p.v.Store(value)
	p.set = 1
}

// Count is a monotone counter.
type Count struct{ n atomic.Uint64 }

// IncPlain adds one. The Machine decides when other goroutines see it.
func (c *Count) IncPlain() {
	if m := machine(); m != nil {
		m.IncPlain(c)
		return
	}
	c.n.Add(1)
}

// IncPinned is IncPlain if plain is set, as in the assembly, else Inc.
func (c *Count) IncPinned(plain bool) {
	if plain {
		c.IncPlain()
	} else {
		c.Inc()
	}
}

// Inc adds one atomically.
func (c *Count) Inc() {
	step(OpInc, unsafe.Pointer(c))
	c.n.Add(1)
}

// Load reads the count.
func (c *Count) Load() uint64 {
	if m := machine(); m != nil {
		return m.ReadCount(c)
	}
	return c.n.Load()
}

// Raw returns the counter in memory, behind all store buffers.
func (c *Count) Raw() *atomic.Uint64 { return &c.n }

// Mutex is a lock of writers.
type Mutex struct {
	mu sync.Mutex

	// Held belongs to the Machine: 1 while locked.
	Held uint64
}

// Lock locks m.
func (m *Mutex) Lock() {
	if active := machine(); active != nil {
		active.Lock(m)
		return
	}
	m.mu.Lock()
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	if active := machine(); active != nil {
		active.Unlock(m)
		return
	}
	m.mu.Unlock()
}
