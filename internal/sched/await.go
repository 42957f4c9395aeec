//go:build poolswapsched

package sched

import (
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Await waits until the condition on the words is true. The thread always stops
// there, since others must be able to make it true.
func (w *World) Await(until func() bool, then func(), words ...unsafe.Pointer) {
	for _, addr := range words {
		w.touch(addr)
	}
	if w.quiet() {
		if !until() && !w.ending {
			panic("no thread runs that could make this true")
		}
		then()
		return
	}
	t := w.running
	for i, addr := range words {
		w.usage.shared(w.touch(addr), t, i == 0)
	}
	t.takes, t.until = false, until
	w.wait(t, seam.OpWait, w.touch(words[0]))
	t.until = nil
	then()
	for i, addr := range words {
		at, use := w.touch(addr), reads
		if i == 0 {
			use = writes
		}
		w.uses.note(at.id, use)
		t.learn(w.memory.canonical(at.value()))
		w.memory.rehash(at)
	}
	w.fence(t)
}

// Made names an object, and the word that it begins with, by the history of the
// thread that made it.
func (w *World) Made(object unsafe.Pointer) {
	id := uint64(len(w.memory.names))
	if t := w.running; t != nil {
		id = mix(t.history, 106)
	}
	name := mix(id, 107)
	w.memory.names[uint64(uintptr(object))] = name
	w.memory.touch(object, name, w.running != nil)
}
