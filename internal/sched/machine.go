//go:build poolswapsched

package sched

import (
	"slices"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

var _ seam.Machine = (*World)(nil)

// announce stops the running thread before a step and returns when the
// scheduler has chosen it.
func (w *World) announce(op seam.Op, addr unsafe.Pointer) *thread {
	t := w.running
	at := w.touch(addr)
	reads := op == seam.OpLoad || op == seam.OpCount
	if w.usage.shared(at, t.id, !reads) || !reads && w.stores(t) {
		w.wait(t, op, addr)
	} else {
		w.dirty = append(w.dirty, addr)
		w.trace.note(w, t, op, addr)
	}
	if op != seam.OpCount {
		t.history = mix(t.history, uint64(op)<<56^at.id)
	}
	return t
}

// wait gives way to the scheduler. It does not return when the run is over.
func (w *World) wait(t *thread, op seam.Op, addr unsafe.Pointer) {
	t.op, t.addr = op, addr
	t.on.pause()
	if w.ending {
		panic(unwind{})
	}
}

// stores reports whether stores wait in the buffer of the thread's processor:
// then a fence is more than a step of its own thread.
func (w *World) stores(t *thread) bool { return t.cpu >= 0 && len(w.cpus[t.cpu].buffer) > 0 }

// quiet reports that nothing is a step: the scenario is set up or checked, or
// threads unwind.
func (w *World) quiet() bool { return w.running == nil || w.ending }

// Step is a step of the running thread.
func (w *World) Step(op seam.Op, addr unsafe.Pointer) {
	if w.quiet() {
		w.touch(addr)
		return
	}
	t := w.announce(op, addr)
	if op != seam.OpLoad && t.cpu >= 0 {
		w.drain(t.cpu)
	}
}

// Observe mixes what was read into what the thread knows.
func (w *World) Observe(_ unsafe.Pointer, value uint64) {
	if t := w.running; t != nil && !w.ending {
		value = w.canonical(value)
		t.history = mix(t.history, value)
		w.trace.observed(value)
	}
}

// IncPlain puts an increment into the buffer of the thread's processor. Nobody
// else can see that, but a Membarrier before it leaves it there and one after
// it does not, so it is a step.
func (w *World) IncPlain(c *seam.Count) {
	w.touch(unsafe.Pointer(c))
	if w.quiet() {
		c.Raw().Add(1)
		return
	}
	t := w.running
	w.wait(t, seam.OpIncPlain, unsafe.Pointer(c))
	at := &w.cpus[t.cpu]
	if len(at.buffer) == w.config.Depth {
		w.letOut(t.cpu)
	}
	at.buffer = append(at.buffer, pending{c, t})
}

// ReadCount reads a counter as the thread's processor sees it.
func (w *World) ReadCount(c *seam.Count) uint64 {
	w.touch(unsafe.Pointer(c))
	if w.quiet() {
		return c.Raw().Load()
	}
	t := w.announce(seam.OpCount, unsafe.Pointer(c))
	value := c.Raw().Load()
	if t.cpu >= 0 {
		for _, store := range w.cpus[t.cpu].buffer {
			if store.count == c {
				value++
			}
		}
	}
	t.history = t.sums.add(t.history, value, w.config.Stripes+1)
	w.trace.observed(value)
	return value
}

// Lock waits until m is free.
func (w *World) Lock(m *seam.Mutex) {
	addr := unsafe.Pointer(&m.Held)
	if w.quiet() {
		w.touch(addr)
		return
	}
	t := w.announce(seam.OpLock, addr)
	m.Held = 1
	if t.cpu >= 0 {
		w.drain(t.cpu)
	}
}

// Unlock frees m. Whoever waits could not tell it from an Unlock later, so it
// is no step.
func (w *World) Unlock(m *seam.Mutex) {
	if w.quiet() {
		return
	}
	m.Held = 0
	w.rehash(unsafe.Pointer(&m.Held))
}

// Pin puts the thread on the processor that the scheduler chose. Coming from
// another one, what it stored there is visible by now: a goroutine changes
// processors through a run queue, and stores become visible in order.
func (w *World) Pin() int {
	if w.quiet() {
		return 0
	}
	t := w.running
	was := t.cpu
	w.wait(t, seam.OpPin, nil)
	t.history = mix(t.history, uint64(t.cpu)+11)
	if was >= 0 && was != t.cpu {
		w.letOutOf(was, t)
	}
	w.cpus[t.cpu].pinned = t
	return t.cpu
}

// Unpin frees the processor. Whoever waits for it could not tell it from an
// Unpin later, so it is no step.
func (w *World) Unpin() {
	if !w.quiet() {
		w.cpus[w.running.cpu].pinned = nil
	}
}

// Fence lets out all that the thread's processor has stored.
func (w *World) Fence() {
	if w.quiet() {
		return
	}
	t := w.running
	if w.stores(t) {
		w.wait(t, seam.OpFence, nil)
		w.drain(t.cpu)
	}
}

// Membarrier lets out all that every processor has stored.
func (w *World) Membarrier() error {
	if w.quiet() {
		return nil
	}
	t := w.running
	w.wait(t, seam.OpMembarrier, nil)
	for c := range w.cpus {
		w.drain(c)
	}
	return nil
}

// Go starts a thread.
func (w *World) Go(f func()) {
	if !w.ending {
		w.Start("sweeper", f)
	}
}

// Stripes is how many stripes each object gets.
func (w *World) Stripes() int { return w.config.Stripes }

// letOut makes the oldest store of processor c visible.
func (w *World) letOut(c int) {
	at := &w.cpus[c]
	store := at.buffer[0]
	at.buffer = slices.Delete(at.buffer, 0, 1) // in place: there is one at most of Config.Depth
	store.count.Raw().Add(1)
	w.usage.shared(w.words[unsafe.Pointer(store.count)], store.by.id, true)
	w.rehash(unsafe.Pointer(store.count))
}

// letOutOf makes visible what t stored on processor c, and what was stored
// there before it.
func (w *World) letOutOf(c int, t *thread) {
	last := 0
	for i, store := range w.cpus[c].buffer {
		if store.by == t {
			last = i + 1
		}
	}
	for range last {
		w.letOut(c)
	}
}

func (w *World) drain(c int) {
	for len(w.cpus[c].buffer) > 0 {
		w.letOut(c)
	}
}
