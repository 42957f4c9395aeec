//go:build poolswapsched

package seam

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Op is the kind of a step.
type Op uint8

// The steps that a Machine sees.
const (
	OpLoad Op = iota
	OpStore
	OpSwap
	OpCompareAndSwap
	OpIncPlain
	OpAdd
	OpInc
	OpCount
	OpLock
	OpUnlock
	OpPin
	OpUnpin
	OpFence
	OpMembarrier
	OpGo
)

var opNames = [...]string{
	"load", "store", "swap", "compare-and-swap", "plain inc", "add", "inc", "read count",
	"lock", "unlock", "pin", "unpin", "fence", "membarrier", "go",
}

// String names the kind of step.
func (o Op) String() string { return opNames[o] }

// Machine stands behind the seam: it is told of every step before it is
// taken, on the goroutine that takes it, and may let others go first.
type Machine interface {
	// Step comes before a step on the word at addr that is not one of those
	// below. It is a full fence for the caller unless op is OpLoad.
	Step(op Op, addr unsafe.Pointer)
	// Observe comes after Step with what the step read: all that the caller
	// can learn from it. Without a Step it is of a word that is set once and
	// was set before: nobody could tell such a load from one at another time.
	Observe(addr unsafe.Pointer, value uint64)

	IncPlain(c *Count)
	ReadCount(c *Count) uint64
	Lock(m *Mutex)
	Unlock(m *Mutex)
	Pin() int
	Unpin()
	Fence()
	Membarrier() error
	Go(f func())
	Stripes() int
}

var (
	installed atomic.Pointer[Machine]

	// cleaning is locked while a Machine is installed, and by each cleanup. An
	// object that was made before may be collected now, and what its cleanup
	// does would be steps of nobody that the Machine knows.
	cleaning sync.Mutex
)

// Install puts m behind the seam, or with nil takes away what is there. It is
// called while no protocol runs.
func Install(m Machine) {
	if m == nil {
		if installed.Swap(nil) != nil {
			cleaning.Unlock()
		}
		return
	}
	cleaning.Lock()
	installed.Store(&m)
}

func machine() Machine {
	if m := installed.Load(); m != nil {
		return *m
	}
	return nil
}

// step announces a step and returns the Machine that was told, or nil.
func step(op Op, addr unsafe.Pointer) Machine {
	m := machine()
	if m != nil {
		m.Step(op, addr)
	}
	return m
}

func observe(m Machine, addr unsafe.Pointer, value uint64) {
	if m != nil {
		m.Observe(addr, value)
	}
}

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

// CompareAndSwap writes the word if it is old.
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

// CompareAndSwap writes the flag if it is old.
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

// Swap writes the pointer and returns what it was.
func (p *Pointer[T]) Swap(value *T) *T {
	m := step(OpSwap, unsafe.Pointer(p))
	old := p.v.Swap(value)
	observe(m, unsafe.Pointer(p), uint64(uintptr(unsafe.Pointer(old))))
	return old
}

// CompareAndSwap writes the pointer if it is old.
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
	set uint64 // 1 once it is: what the Machine sees
}

// Load reads the pointer. It is a step only while there is something to see.
func (p *SetOnce[T]) Load() *T {
	m := machine()
	if m != nil && p.v.Load() == nil {
		m.Step(OpLoad, unsafe.Pointer(&p.set))
	}
	value := p.v.Load()
	observe(m, unsafe.Pointer(&p.set), bit(value != nil))
	return value
}

// CompareAndSwap sets the pointer if it is old, which is nil.
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

// Store sets the pointer to what it was set to already, after somebody has
// overwritten it.
func (p *SetOnce[T]) Store(value *T) { p.v.Store(value) }

// Count is a monotone counter.
type Count struct{ n atomic.Uint64 }

// IncPlain adds one; the Machine decides when others see it.
func (c *Count) IncPlain() {
	if m := machine(); m != nil {
		m.IncPlain(c)
		return
	}
	c.n.Add(1)
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

// Raw is the counter in memory, behind all store buffers.
func (c *Count) Raw() *atomic.Uint64 { return &c.n }

// Mutex excludes writers from each other.
type Mutex struct {
	mu sync.Mutex

	// Held belongs to the Machine: 1 while locked.
	Held uint64
}

// Lock locks m.
func (m *Mutex) Lock() {
	if behind := machine(); behind != nil {
		behind.Lock(m)
		return
	}
	m.mu.Lock()
}

// Unlock unlocks m.
func (m *Mutex) Unlock() {
	if behind := machine(); behind != nil {
		behind.Unlock(m)
		return
	}
	m.mu.Unlock()
}

// Go starts f.
func Go(f func()) {
	if m := machine(); m != nil {
		m.Go(f)
		return
	}
	go f()
}

// Fence is a full memory fence.
func Fence() {
	if m := machine(); m != nil {
		m.Fence()
	}
}

// Pin chooses a processor.
func Pin() int {
	if m := machine(); m != nil {
		return m.Pin()
	}
	return 0
}

// Unpin ends what Pin began.
func Unpin() {
	if m := machine(); m != nil {
		m.Unpin()
	}
}

// Stripe maps what Pin returned onto owned stripes and the overflow.
func Stripe(k, owned int) int { return min(k, owned) }

// Stripes returns how many stripes are wanted.
func Stripes() int {
	if m := machine(); m != nil {
		return m.Stripes()
	}
	return 1
}

// AddCleanup does nothing under a Machine, which makes and drops objects by
// the million; else it is runtime.AddCleanup, of what waits while there is a
// Machine.
func AddCleanup[T, A any](ptr *T, cleanup func(A), arg A) {
	if machine() != nil {
		return
	}
	runtime.AddCleanup(ptr, func(arg A) {
		cleaning.Lock()
		defer cleaning.Unlock()
		cleanup(arg)
	}, arg)
}

// CanCountPlain is true: the Machine keeps the store buffers.
const CanCountPlain = true

// RegisterMembarrier always succeeds.
func RegisterMembarrier() error { return nil }

// Membarrier makes all processors fence.
func Membarrier() error {
	if m := machine(); m != nil {
		return m.Membarrier()
	}
	return nil
}
