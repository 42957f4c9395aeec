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
	alike   bool   // there is, or may be, another of that name
	cpu     int    // to which it is pinned, or -1
	history uint64 // of all that it has learned
	whole   uint64 // history without Call and Forget, and with each counter that was read
	sums    sums
	done    bool

	op    seam.Op // the step that it is about to take
	at    *word   // and on what, or nil
	takes bool    // and the next with it

	rounds  string // of Call
	before  uint64 // history when it began
	counted uint64 // stands for the counter that was counted on last

	place uint64 // of state

	task func()
	on   *coroutine // nil before its first step
}

// Start makes a thread that runs f. Those of one name do the same: states in
// which they have changed places are one state.
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

// learn adds to what the thread knows.
func (t *thread) learn(value uint64) {
	t.history = mix(t.history, value)
	t.whole = mix(t.whole, value)
}

// Know says that the running thread keeps what it learned without a step.
func (w *World) Know(value uint64) {
	if t := w.running; t != nil {
		t.learn(value)
	}
}

// Forget says that nothing the running thread has learned so far bears on what
// it will do, beyond what is in remains: states that differ only in what it
// has learned are then the same.
func (w *World) Forget(remains uint64) {
	if t := w.running; t != nil {
		t.history = mix(mixString(t.name), remains)
	}
}
