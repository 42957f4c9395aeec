//go:build !poolswapsched

package seam

import "context"

// Sequence counts up from 1. The zero Sequence has given no number.
type Sequence struct{ last Uint64 }

// Next returns the next number.
func (s *Sequence) Next() uint64 { return s.last.Add(1) }

// Last returns the number given last, or 0.
func (s *Sequence) Last() uint64 { return s.last.Load() }

// Signal is an event that happens once and wakes all who wait for it.
type Signal struct{ done chan struct{} }

// NewSignal returns a Signal that has not fired.
func NewSignal() *Signal { return &Signal{make(chan struct{})} }

// Fire makes the event happen. It must be called once.
func (s *Signal) Fire() { close(s.done) }

// Done returns a channel that Fire closes. Done of a nil Signal is nil.
func (s *Signal) Done() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.done
}

// Wait returns nil once one of the signals has fired, or else ctx's error once
// ctx ends. second may be nil.
func Wait(ctx context.Context, first, second *Signal) error {
	return wait(ctx, first.Done(), second.Done())
}

// Turn is a lock that a goroutine can wait for with a context. Those that wait
// get it in the order in which they came.
type Turn struct{ turn turn }

// Take waits for the turn and takes it. It returns false if it did not, because
// signal fired first, or with ctx's error because ctx ended first. signal may be
// nil.
func (t *Turn) Take(ctx context.Context, signal *Signal) (taken bool, err error) {
	return t.turn.take(ctx, signal.Done())
}

// Pass gives the turn to the goroutine that has waited longest.
func (t *Turn) Pass() { t.turn.pass() }
