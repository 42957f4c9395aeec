//go:build poolswapsched

package sched

import (
	"fmt"
	"runtime/debug"

	"github.com/poolswap/poolswap/internal/seam"
)

// thread is a goroutine of the scenario.
type thread struct {
	id      int
	name    string
	alike   bool   // another thread has, or may have, the same name
	cpu     int    // the processor it is pinned to, or -1
	history uint64 // hash of all that it has learned
	sums    sums
	done    bool

	op    seam.Op     // its next step
	at    *word       // the word of that step, or nil
	takes bool        // the step after the next follows without a choice
	until func() bool // if set, the next step waits until it returns true

	place uint64 // of state

	task func()
	on   *coroutine // nil before its first step
}

// Start makes a thread that runs f. Threads of one name must do the same: states
// that differ only in which of them is where are merged.
func (w *World) Start(name string, f func()) {
	t := &thread{id: len(w.threads), name: name, cpu: -1, op: seam.OpGo, history: mixString(name)}
	t.task = func() {
		defer func() {
			t.done = true
			switch v := recover(); v.(type) {
			case nil, unwind:
			default:
				if w.failure == nil && !w.ending {
					w.failure = fmt.Errorf("%s panicked: %v\n%s", name, v, debug.Stack())
				}
			}
		}()
		f()
	}
	t.alike = w.running != nil
	for _, other := range w.threads {
		if other.name == name {
			t.alike, other.alike = true, true
		}
	}
	w.threads = append(w.threads, t)
	w.uses.note(beginning(), writes)
}

// learn adds to the knowledge of the thread.
func (t *thread) learn(value uint64) { t.history = mix(t.history, value) }

// Know declares that the running thread keeps a value that it did not read
// through the seam.
func (w *World) Know(value uint64) {
	if t := w.running; t != nil {
		t.learn(value)
	}
}

// Forget declares that of all that the running thread has learned only remains
// affects what it will do. States that differ in the rest are merged.
func (w *World) Forget(remains uint64) {
	if t := w.running; t != nil {
		t.history = mix(mixString(t.name), remains)
	}
}
