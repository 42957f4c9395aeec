//go:build poolswapsched

package sched

import (
	"reflect"
	"runtime"
	"strings"

	"github.com/poolswap/poolswap/internal/seam"
)

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
	at := callSite{t.rounds, stack}
	known, ok := w.rounds[at]
	if !ok {
		known = at.isIn()
		w.rounds[at] = known
	}
	if known {
		t.history = t.before
	}
}

var seamPackage = reflect.TypeFor[seam.Machine]().PkgPath()

// callSite is where a pin is made, and the function that it may be in.
type callSite struct {
	function string
	stack    [6]uintptr
}

// isIn reports whether the pin is made in the function, that is by it.
func (s callSite) isIn() bool {
	frames := runtime.CallersFrames(s.stack[:])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, seamPackage) {
			return strings.HasSuffix(frame.Function, s.function)
		}
		if !more {
			return false
		}
	}
}

// fences forgets what is of no use after a fence. It keeps what was counted on
// last, which says what the thread will look at next.
func (t *thread) fences() {
	if t.rounds != "" {
		t.history = mix(mix(t.before, uint64(seam.OpFence)), t.counted)
	}
}
