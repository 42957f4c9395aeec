//go:build poolswapsched

package sched

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/poolswap/poolswap/internal/seam"
)

var seamPackage = reflect.TypeFor[seam.Machine]().PkgPath()

// thread is a goroutine of the scenario.
type thread struct {
	id      int
	name    string
	alike   bool   // there is, or may be, another of that name
	cpu     int    // to which it is pinned, or -1
	history uint64 // of all that it has learned
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
func (t *thread) learn(value uint64) { t.history = mix(t.history, value) }

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

// Call runs f, a call of the library by the running thread, of which two things
// are true that make states the same which else were not. Where function pins,
// it begins a round, and carries nothing over from the last. And nothing that
// was learned before a fence matters after it, but on what was counted last.
func (w *World) Call(function string, f func()) {
	if t := w.running; t != nil {
		t.rounds, t.before = function, t.history
		defer func() { t.rounds = "" }()
	}
	f()
}

// begins forgets the last round if the pin that the thread is about to make
// begins another.
func (w *World) begins(t *thread) {
	if t.rounds == "" {
		return
	}
	var stack [6]uintptr
	runtime.Callers(3, stack[:]) // from the caller of Pin on
	at := place{t.rounds, stack}
	known, ok := w.rounds[at]
	if !ok {
		known = at.isIn()
		w.rounds[at] = known
	}
	if known {
		t.history = t.before
	}
}

// place is where a pin is made, and the function that it may be in.
type place struct {
	function string
	stack    [6]uintptr
}

// isIn reports whether the pin is made in the function, that is by it.
func (p place) isIn() bool {
	frames := runtime.CallersFrames(p.stack[:])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, seamPackage) {
			return strings.HasSuffix(frame.Function, p.function)
		}
		if !more {
			return false
		}
	}
}

// fences forgets what is of no use after a fence.
func (t *thread) fences() {
	if t.rounds != "" {
		t.history = mix(mix(t.before, uint64(seam.OpFence)), t.counted)
	}
}
