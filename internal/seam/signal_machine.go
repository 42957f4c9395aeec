//go:build poolswapsched

package seam

import (
	"context"
	"sync/atomic"
	"unsafe"
)

// Sequence counts up from 1. The zero Sequence has given no number.
type Sequence struct{ last atomic.Uint64 }

// Next returns the next number.
func (s *Sequence) Next() uint64 {
	m := step(OpSwap, unsafe.Pointer(s))
	value := s.last.Add(1)
	observe(m, unsafe.Pointer(s), value)
	return value
}

// Last returns the number given last, or 0.
func (s *Sequence) Last() uint64 {
	m := step(OpLoad, unsafe.Pointer(s))
	value := s.last.Load()
	observe(m, unsafe.Pointer(s), value)
	return value
}

// Signal is an event that happens once and wakes all who wait for it.
type Signal struct {
	fired atomic.Uint64 // 1 once it has; the word that the Machine sees
	done  chan struct{}
}

// NewSignal returns a Signal that has not fired.
func NewSignal() *Signal {
	s := &Signal{done: make(chan struct{})}
	if m := machine(); m != nil {
		m.Made(unsafe.Pointer(s))
	}
	return s
}

// Fire makes the event happen. It must be called once.
func (s *Signal) Fire() {
	step(OpStore, unsafe.Pointer(s))
	s.fired.Store(1)
	close(s.done)
}

// Done returns a channel that Fire closes. Done of a nil Signal is nil.
func (s *Signal) Done() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.done
}

func (s *Signal) hasFired() bool { return s != nil && s.fired.Load() != 0 }

// Wait returns nil once one of the signals has fired, or else ctx's error once
// ctx ends. Under a Machine ctx does not end. second may be nil.
func Wait(ctx context.Context, first, second *Signal) error {
	m := machine()
	if m == nil {
		return wait(ctx, first.Done(), second.Done())
	}
	words := []unsafe.Pointer{unsafe.Pointer(first)}
	if second != nil {
		words = append(words, unsafe.Pointer(second))
	}
	m.Await(func() bool { return first.hasFired() || second.hasFired() }, func() {}, words...)
	return nil
}

// Turn is a lock that a goroutine can wait for with a context.
type Turn struct {
	held atomic.Uint64 // 1 while taken; the word that the Machine sees
	turn turn          // without a Machine
}

// Take waits for the turn and takes it. It returns false if it did not, because
// signal fired first, or with ctx's error because ctx ended first. Under a
// Machine ctx does not end. signal may be nil.
func (t *Turn) Take(ctx context.Context, signal *Signal) (taken bool, err error) {
	m := machine()
	if m == nil {
		return t.turn.take(ctx, signal.Done())
	}
	words := []unsafe.Pointer{unsafe.Pointer(t)}
	if signal != nil {
		words = append(words, unsafe.Pointer(signal))
	}
	m.Await(func() bool { return t.held.Load() == 0 || signal.hasFired() }, func() {
		taken = !signal.hasFired() && t.held.CompareAndSwap(0, 1)
	}, words...)
	return taken, nil
}

// Pass gives the turn to a goroutine that waits.
func (t *Turn) Pass() {
	if m := machine(); m != nil {
		m.Step(OpStore, unsafe.Pointer(t))
		t.held.Store(0)
		return
	}
	t.turn.pass()
}
