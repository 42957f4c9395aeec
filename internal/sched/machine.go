//go:build poolswapsched

package sched

import (
	"slices"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

var _ seam.Machine = (*World)(nil)

// touch returns the word at addr, which the running thread or the scenario is
// about to use. The ID of a new word is the thread's history: if two threads
// have the same history, it does not matter which of them made the word.
func (w *World) touch(addr unsafe.Pointer) *word {
	t := w.running
	if t == nil { // the setup is the same in every run
		return w.memory.touch(addr, mix(uint64(len(w.memory.words)), 2), false)
	}
	return w.memory.touch(addr, mix(t.history, uint64(t.cpu)), true)
}

// announce stops the running thread before a step, until the scheduler chooses
// it.
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
	if op != seam.OpCount { // those are in sums
		t.learn(uint64(op)<<56 ^ at.called())
	}
	return t
}

// wait yields to the scheduler, unless the step belongs to the one before. It
// does not return if the run is over.
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

// Yield is a step of the running thread that uses nothing, so that other threads
// can go on.
func (w *World) Yield() {
	if !w.quiet() {
		w.wait(w.running, seam.OpGo, nil)
	}
}

// stored reports whether a buffer holds stores of the thread. Only then does a
// fence do anything.
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

// quiet reports whether nothing is a step, because the scenario is being set up
// or checked, or because threads unwind.
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
	if op == seam.OpInc {
		at := w.touch(addr)
		w.uses.note(plain(at), reads)
		w.lost(t, at)
	}
}

// Observe adds the value read to the knowledge of the thread.
func (w *World) Observe(addr unsafe.Pointer, value uint64) {
	if t := w.running; t != nil && !w.ending {
		w.uses.note(w.touch(addr).id, reads)
		value = w.memory.canonical(value)
		t.learn(value)
		w.trace.observed(value)
	}
	if label := w.whenSet[addr]; label != nil && value != 0 {
		delete(w.whenSet, addr)
		label()
	}
}

// IncPlain puts an increment into the buffer of the thread's processor. Other
// threads do not see that, but it is a step because a Membarrier after it
// flushes the increment and one before it does not.
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
	w.uses.note(plain(at), writes)
	w.lost(t, at)
	on := &w.cpus[t.cpu]
	if len(on.buffer) == w.config.Depth {
		w.flush(t.cpu)
	}
	on.buffer = append(on.buffer, pending{at, t})
}

// lost fails if a plain increment of the counter is on its way from another
// processor. A plain increment is a load and a store, so one of the two that meet
// would overwrite the other. As long as that cannot happen, increments add up, and
// the other methods may treat them as additions.
func (w *World) lost(t *thread, at *word) {
	for c := range w.cpus {
		for _, store := range w.cpus[c].buffer {
			if store.count == at && c != t.cpu {
				w.Fail("%s counts on processor %d while a plain increment of the same counter waits on processor %d: one of them is lost", t.name, t.cpu, c)
			}
		}
	}
}

// ReadCount reads a counter as the thread sees it, including its own stores that
// other threads do not see yet. On a real processor it would also see the stores
// of the threads that ran there before, because the runtime switches goroutines
// with locked instructions. Here those may still wait, which allows more than
// can happen.
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
	if learned, done := t.sums.add(at, value, w.config.Stripes+1); done {
		t.learn(learned)
	}
	w.trace.observed(value)
	return value
}

// Lock waits until m is free and takes it.
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

// Unlock frees m. It is not a step, because a waiting thread could not tell it
// from a later Unlock.
func (w *World) Unlock(m *seam.Mutex) {
	if w.quiet() {
		return
	}
	m.Held, w.running.takes = 0, false
	at := w.touch(unsafe.Pointer(&m.Held))
	w.uses.note(at.id, writes)
	w.memory.rehash(at)
}

// Pin puts the thread on the processor that the scheduler chose. As with Lock,
// the thread's next step follows at once: Pin is a right mover (Lipton), so what
// others do in between they could do before it. The thread's stores on another
// processor are visible by now, because a goroutine changes processors through a
// run queue, and stores become visible in order.
func (w *World) Pin() int {
	if w.quiet() {
		return 0
	}
	t := w.running
	w.wait(t, seam.OpPin, nil)
	w.uses.note(pinning(t.cpu), writes)
	for c := range w.cpus {
		if c != t.cpu {
			w.flushOf(c, t)
		}
	}
	w.cpus[t.cpu].pinned = t
	return t.cpu
}

// Unpin frees the processor. It is not a step, because a waiting thread could not
// tell it from a later Unpin.
func (w *World) Unpin() {
	if t := w.running; !w.quiet() {
		w.uses.note(pinning(t.cpu), writes)
		w.cpus[t.cpu].pinned = nil
		t.cpu = -1
	}
}

// Fence flushes all stores of the thread.
func (w *World) Fence() {
	if t := w.running; !w.quiet() && w.stored(t) {
		w.wait(t, seam.OpFence, nil)
		w.fence(t)
	}
}

// Membarrier flushes all stores of every processor.
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

// StopTheWorld waits until no processor has a pinned thread. All stores are visible
// then: a stopped thread passes its processor on with locked instructions.
func (w *World) StopTheWorld() {
	if w.quiet() {
		return
	}
	t := w.running
	t.until = func() bool {
		for c := range w.cpus {
			if w.cpus[c].pinned != nil {
				return false
			}
		}
		return true
	}
	w.wait(t, seam.OpStopTheWorld, nil)
	t.until = nil
	for c := range w.cpus {
		w.uses.note(pinning(c), reads)
		w.uses.note(buffer(c), reads)
		w.drain(c)
	}
}

// Go starts a thread.
func (w *World) Go(f func()) {
	if !w.ending {
		w.Start("sweeper", f)
	}
}

// Stripes is how many stripes each object gets.
func (w *World) Stripes() int { return w.config.Stripes }

// flush makes the oldest store of processor c visible.
func (w *World) flush(c int) {
	on := &w.cpus[c]
	store := on.buffer[0]
	w.uses.note(buffer(c), writes)
	w.uses.note(stores(store.by), writes)
	w.uses.note(store.count.id, adds)
	w.uses.note(plain(store.count), writes)
	on.buffer = slices.Delete(on.buffer, 0, 1)
	(*seam.Count)(store.count.addr).Raw().Add(1)
	w.memory.rehash(store.count)
	w.usage.shared(store.count, store.by, true)
}

// flushOf flushes processor c up to the last store of t.
func (w *World) flushOf(c int, t *thread) {
	w.uses.note(stores(t), reads)
	last := 0
	for i, store := range w.cpus[c].buffer {
		if store.by == t {
			last = i + 1
		}
	}
	for range last {
		w.flush(c)
	}
}

// fence flushes all stores of t.
func (w *World) fence(t *thread) {
	for c := range w.cpus {
		w.flushOf(c, t)
	}
}

func (w *World) drain(c int) {
	for len(w.cpus[c].buffer) > 0 {
		w.flush(c)
	}
}
