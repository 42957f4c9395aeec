//go:build poolswapsched

package jitter

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// stepsPerStore is the average number of steps, of all goroutines, until a random
// processor flushes a store.
const stepsPerStore = 16

// Machine is the processors and their store buffers. Use New to make one.
type Machine struct {
	stripes int
	started sync.WaitGroup // by Go

	mu       sync.Mutex // guards the fields below, and Held of every seam.Mutex
	cpus     []cpu
	stopping bool            // the world is being stopped, by one goroutine at a time
	where    map[uintptr]int // the last processor of a goroutine
}

var _ seam.Machine = (*Machine)(nil)

// cpu is a processor.
type cpu struct {
	taken  bool      // a goroutine is pinned to it
	buffer []pending // plain increments that other processors do not see yet, oldest first
}

// pending is an increment in a store buffer.
type pending struct {
	count *seam.Count
	by    uintptr
}

// New returns a Machine with that many processors. Objects get a stripe for each
// but the last, which counts in the overflow like a P added later.
func New(cpus int) *Machine {
	return &Machine{
		stripes: cpus - 1,
		cpus:    make([]cpu, cpus),
		where:   make(map[uintptr]int),
	}
}

// Wait waits until every goroutine that Go started has ended.
func (m *Machine) Wait() { m.started.Wait() }

// Step may yield to others, and flushes the caller's processor unless the step is
// a load.
func (m *Machine) Step(op seam.Op, _ unsafe.Pointer) {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	if op != seam.OpLoad {
		m.fence()
	}
	m.pass()
}

// Observe does nothing.
func (m *Machine) Observe(unsafe.Pointer, uint64) {}

// IncPlain puts an increment into the buffer of the caller's processor.
func (m *Machine) IncPlain(c *seam.Count) {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	me := seam.Goroutine()
	at := &m.cpus[m.where[me]]
	at.buffer = append(at.buffer, pending{c, me})
	m.pass()
}

// ReadCount reads a counter as the caller's processor sees it.
func (m *Machine) ReadCount(c *seam.Count) uint64 {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pass()
	value := c.Raw().Load()
	if k, known := m.where[seam.Goroutine()]; known {
		for _, store := range m.cpus[k].buffer {
			if store.count == c {
				value++
			}
		}
	}
	return value
}

// Lock waits until mu is free and takes it.
func (m *Machine) Lock(mu *seam.Mutex) {
	nap()
	for !m.take(mu) {
		runtime.Gosched()
	}
}

func (m *Machine) take(mu *seam.Mutex) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fence()
	if mu.Held != 0 {
		return false
	}
	mu.Held = 1
	return true
}

// Await waits until the condition is true and runs then.
func (m *Machine) Await(until func() bool, then func(), _ ...unsafe.Pointer) {
	nap()
	for !m.tryAwait(until, then) {
		runtime.Gosched()
	}
}

func (m *Machine) tryAwait(until func() bool, then func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fence()
	if !until() {
		return false
	}
	then()
	return true
}

// Made does nothing: addresses are never compared between runs.
func (m *Machine) Made(unsafe.Pointer) {}

// Unlock frees mu.
func (m *Machine) Unlock(mu *seam.Mutex) {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fence()
	mu.Held = 0
}

// Pin waits until a processor is free and takes it. The caller's stores on another
// processor are visible by now, because a goroutine changes processors through a
// run queue, and stores become visible in order.
func (m *Machine) Pin() int {
	nap()
	for {
		if k, ok := m.board(); ok {
			return k
		}
		runtime.Gosched()
	}
}

// board puts the caller on a random processor, if that is free.
func (m *Machine) board() (k int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k = rand.IntN(len(m.cpus))
	if m.cpus[k].taken || m.stopping {
		return 0, false
	}
	m.cpus[k].taken = true
	me := seam.Goroutine()
	if was, known := m.where[me]; known && was != k {
		m.flushOf(was, me)
	}
	m.where[me] = k
	return k, true
}

// Unpin frees the processor that Pin took.
func (m *Machine) Unpin() {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cpus[m.where[seam.Goroutine()]].taken = false
}

// Fence flushes the caller's processor.
func (m *Machine) Fence() {
	nap()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fence()
}

// Membarrier flushes the processors one after the other, as the interrupts reach
// them.
func (m *Machine) Membarrier() error {
	for _, k := range rand.Perm(len(m.cpus)) {
		nap()
		m.mu.Lock()
		m.flush(k, len(m.cpus[k].buffer))
		m.mu.Unlock()
	}
	nap()
	return nil
}

// StopTheWorld keeps goroutines from being pinned until none is, and flushes the
// processors then.
func (m *Machine) StopTheWorld() {
	nap()
	m.setStopping(true)
	defer m.setStopping(false)
	for !m.stopped() {
		runtime.Gosched()
	}
}

func (m *Machine) setStopping(stopping bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopping = stopping
}

// stopped reports whether no goroutine is pinned.
func (m *Machine) stopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.cpus {
		if m.cpus[k].taken {
			return false
		}
	}
	for k := range m.cpus {
		m.flush(k, len(m.cpus[k].buffer))
	}
	return true
}

// Go runs f on a new goroutine.
func (m *Machine) Go(f func()) { m.started.Go(f) }

// Stripes is how many stripes each object gets.
func (m *Machine) Stripes() int { return m.stripes }

// pass flushes the oldest store of a random processor, at random times.
func (m *Machine) pass() {
	if rand.IntN(stepsPerStore) == 0 {
		k := rand.IntN(len(m.cpus))
		m.flush(k, min(1, len(m.cpus[k].buffer)))
	}
}

// fence flushes the caller's processor.
func (m *Machine) fence() {
	if k, known := m.where[seam.Goroutine()]; known {
		m.flush(k, len(m.cpus[k].buffer))
	}
}

// flushOf flushes processor k up to the last store of the goroutine.
func (m *Machine) flushOf(k int, who uintptr) {
	last := 0
	for i, store := range m.cpus[k].buffer {
		if store.by == who {
			last = i + 1
		}
	}
	m.flush(k, last)
}

// flush makes the n oldest stores of processor k visible.
func (m *Machine) flush(k, n int) {
	at := &m.cpus[k]
	for _, store := range at.buffer[:n] {
		store.count.Raw().Add(1)
	}
	at.buffer = append(at.buffer[:0], at.buffer[n:]...)
}
