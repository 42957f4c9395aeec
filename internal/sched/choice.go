//go:build poolswapsched

package sched

import (
	"fmt"

	"github.com/poolswap/poolswap/internal/seam"
)

// choice is one way to go on. A thread takes its step, on processor cpu if the
// step is a pin; if thread is nil, processor cpu flushes a store.
type choice struct {
	thread *thread
	cpu    int
}

// wayID identifies a choice within a state.
type wayID struct{ thread, cpu int }

func (c choice) id() wayID {
	if c.thread == nil {
		return wayID{-1, c.cpu}
	}
	return wayID{c.thread.id, c.cpu}
}

// choices appends every way to go on to into.
func (w *World) choices(into []choice) []choice {
	for _, t := range w.threads {
		switch {
		case t.done:
		case t.until != nil && !t.until():
		case t.op == seam.OpPin:
			for c := range w.cpus {
				if w.cpus[c].pinned == nil {
					into = append(into, choice{t, c})
				}
			}
		case t.op == seam.OpLock && t.at.value() != 0:
		default:
			into = append(into, choice{t, -1})
		}
	}
	for c := range w.cpus {
		if len(w.cpus[c].buffer) > 0 {
			into = append(into, choice{nil, c})
		}
	}
	return into
}

// take makes the choice c.
func (w *World) take(c choice) {
	w.steps++
	w.uses = w.uses[:0]
	if w.steps > w.config.MaxSteps {
		w.failure = fmt.Errorf("no end after %d steps: a livelock?", w.config.MaxSteps)
		return
	}
	if c.thread == nil {
		w.trace.flush(w, c.cpu)
		w.flush(c.cpu)
		return
	}
	w.uses.note(going(c.thread), writes)
	if c.thread.op == seam.OpPin {
		c.thread.cpu = c.cpu
	}
	w.trace.step(w, c.thread)
	w.run(c.thread)
}

// ended reports whether the run is over. If no thread can go on, it runs the
// checks or reports a deadlock.
func (w *World) ended(ways []choice) bool {
	if w.failure != nil {
		return true
	}
	for _, t := range w.threads {
		if !t.done {
			if len(ways) == 0 {
				w.failure = fmt.Errorf("deadlock: %s waits for ever", t.name)
				return true
			}
			return false
		}
	}
	w.finish() // the order of the stores left in buffers does not matter
	return true
}
