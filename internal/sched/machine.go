//go:build poolswapsched

package sched

import (
	"slices"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

var _ seam.Machine = (*World)(nil)

// touch returns the word at addr, which the running thread, or the scenario, is
// about to use. One that is new is called after what the thread knows: of two
// that are alike and know the same it makes no difference whose it is.
func (w *World) touch(addr unsafe.Pointer) *word {
	t := w.running
	if t == nil { // the set-up is the same in every run
		return w.memory.touch(addr, mix(uint64(len(w.memory.words)), 2), false)
	}
	return w.memory.touch(addr, mix(t.history, uint64(t.cpu)), true)
}

// announce stops the running thread before a step and returns when the
// scheduler has chosen it.
func (w *World) announce(op seam.Op, addr unsafe.Pointer) *thread {
	t := w.running
	at := w.touch(addr)
	use := writes
	switch op {
	case seam.OpLoad, seam.OpCount:
		use = reads
	case seam.OpInc, seam.OpAdd:
		use = adds
	}
	if w.usage.shared(at, t, use != reads) || use != reads && w.stored(t) {
		w.wait(t, op, at)
	} else {
		w.dirty = append(w.dirty, at)
		w.trace.note(w, t, op, at)
	}
	w.uses.note(at.id, use)
	if op == seam.OpInc {
		t.counted = at.called()
	}
	if op != seam.OpCount { // sums remember those
		t.learn(uint64(op)<<56 ^ at.called())
	}
	return t
}

// wait gives way to the scheduler, unless the step belongs to the one before:
// then nothing comes between. It does not return when the run is over.
func (w *World) wait(t *thread, op seam.Op, at *word) {
	if t.takes && op != seam.OpLock && op != seam.OpPin {
		t.takes = false
		t.learn(uint64(op))
		w.trace.note(w, t, op, at)
		if at != nil {
			w.dirty = append(w.dirty, at)
		}
		return
	}
	t.op, t.at, t.takes = op, at, op == seam.OpLock || op == seam.OpPin
	t.on.pause()
	if w.ending {
		panic(unwind{})
	}
}

// Rest is a step of the running thread that uses nothing: time in which others
// go on.
func (w *World) Rest() {
	if !w.quiet() {
		w.wait(w.running, seam.OpGo, nil)
	}
}

// stored reports whether something that the thread has stored waits in a
// buffer: then a fence is more than a step of its own.
func (w *World) stored(t *thread) bool {
	w.uses.note(stores(t), reads)
	for c := range w.cpus {
		for _, store := range w.cpus[c].buffer {
			if store.by == t {
				return true
			}
		}
	}
	return false
}

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
	if op != seam.OpLoad {
		w.fence(t)
	}
}

// Observe adds what was read to what the thread knows.
func (w *World) Observe(addr unsafe.Pointer, value uint64) {
	if t := w.running; t != nil && !w.ending {
		w.uses.note(w.touch(addr).id, reads)
		value = w.memory.canonical(value)
		t.learn(value)
		w.trace.observed(value)
	}
}

// IncPlain puts an increment into the buffer of the thread's processor. Nobody
// else can see that, but a Membarrier before it leaves it there and one after
// it does not, so it is a step.
func (w *World) IncPlain(c *seam.Count) {
	at := w.touch(unsafe.Pointer(c))
	if w.quiet() {
		c.Raw().Add(1)
		return
	}
	t := w.running
	w.wait(t, seam.OpIncPlain, at)
	w.uses.note(buffer(t.cpu), writes)
	w.uses.note(stores(t), writes)
	on := &w.cpus[t.cpu]
	if len(on.buffer) == w.config.Depth {
		w.letOut(t.cpu)
	}
	on.buffer = append(on.buffer, pending{at, t})
	t.counted = at.called()
}

// ReadCount reads a counter as the thread sees it: what it has stored itself,
// though others may not see it yet. What others have stored on its processor is
// visible by the time that it comes there, for one comes to run after the other
// by locked instructions of the runtime; here it may still wait, which is more
// than can happen.
func (w *World) ReadCount(c *seam.Count) uint64 {
	at := w.touch(unsafe.Pointer(c))
	if w.quiet() {
		return c.Raw().Load()
	}
	t := w.announce(seam.OpCount, unsafe.Pointer(c))
	w.uses.note(stores(t), reads)
	value := c.Raw().Load()
	for i := range w.cpus {
		for _, store := range w.cpus[i].buffer {
			if store.count == at && store.by == t {
				value++
			}
		}
	}
	t.whole = mix(t.whole, value)
	if learned, done := t.sums.add(at, value, w.config.Stripes+1); done {
		t.learn(learned)
	}
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
	w.fence(t)
}

// Unlock frees m. Whoever waits could not tell it from an Unlock later, so it
// is no step.
func (w *World) Unlock(m *seam.Mutex) {
	if w.quiet() {
		return
	}
	m.Held, w.running.takes = 0, false
	at := w.touch(unsafe.Pointer(&m.Held))
	w.uses.note(at.id, writes)
	w.memory.rehash(at)
}

// Pin puts the thread on the processor that the scheduler chose. Its next step
// belongs to it, as with Lock: what others do in between they could as well do
// before (Lipton's right mover). Coming from another one, what it stored there
// is visible by now: a goroutine changes processors through a run queue, and
// stores become visible in order.
func (w *World) Pin() int {
	if w.quiet() {
		return 0
	}
	t := w.running
	w.begins(t)
	w.wait(t, seam.OpPin, nil)
	w.uses.note(pinning(t.cpu), writes)
	for c := range w.cpus {
		if c != t.cpu {
			w.letOutOf(c, t)
		}
	}
	w.cpus[t.cpu].pinned = t
	return t.cpu
}

// Unpin frees the processor. Whoever waits for it could not tell it from an
// Unpin later, so it is no step.
func (w *World) Unpin() {
	if t := w.running; !w.quiet() {
		w.uses.note(pinning(t.cpu), writes)
		w.cpus[t.cpu].pinned = nil
		t.cpu = -1
	}
}

// Fence lets out all that the thread has stored.
func (w *World) Fence() {
	if w.quiet() {
		return
	}
	t := w.running
	t.fences()
	if w.stored(t) {
		w.wait(t, seam.OpFence, nil)
		w.fence(t)
		t.fences() // it has learned no more
	}
}

// Membarrier lets out all that every processor has stored.
func (w *World) Membarrier() error {
	if w.quiet() {
		return nil
	}
	w.wait(w.running, seam.OpMembarrier, nil)
	for c := range w.cpus {
		w.uses.note(buffer(c), reads)
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
	on := &w.cpus[c]
	store := on.buffer[0]
	w.uses.note(buffer(c), writes)
	w.uses.note(stores(store.by), writes)
	w.uses.note(store.count.id, adds)
	on.buffer = slices.Delete(on.buffer, 0, 1) // in place: there is one at most of Config.Depth
	(*seam.Count)(store.count.addr).Raw().Add(1)
	w.memory.rehash(store.count)
	w.usage.shared(store.count, store.by, true)
}

// letOutOf makes visible what t stored on processor c, and what was stored
// there before it.
func (w *World) letOutOf(c int, t *thread) {
	w.uses.note(stores(t), reads)
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

// fence makes visible all that t stored.
func (w *World) fence(t *thread) {
	for c := range w.cpus {
		w.letOutOf(c, t)
	}
}

func (w *World) drain(c int) {
	for len(w.cpus[c].buffer) > 0 {
		w.letOut(c)
	}
}
