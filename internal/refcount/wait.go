package refcount

import (
	"context"

	"github.com/poolswap/poolswap/internal/seam"
)

// Version returns the number of the current object, or 0 if there is none. A
// publication stores it after its swap, so it can be a moment late.
func (s *Slot) Version() uint64 { return s.version.Load() }

// snapshot returns the version of the object that is current at that moment, and
// whether the slot is closed. It takes the mutex, so it does not come between a
// swap and the store of its version.
func (s *Slot) snapshot() (version uint64, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version.Load(), s.closed
}

// closedChannel is for Changed where there is nothing to wait for.
var closedChannel = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Changed returns a channel that is closed if the current version is above
// after or the slot is closed, and otherwise at the next publication or when it
// closes.
func (s *Slot) Changed(after uint64) <-chan struct{} {
	s.Check("Changed")
	if version, closed := s.snapshot(); version > after || closed {
		return closedChannel
	}
	signal := s.changed.next()
	if version, closed := s.snapshot(); version > after || closed {
		return closedChannel
	}
	return signal.Done()
}

// Wait returns a version above after that was current during the call. It fails
// with ctx's error or ErrClosed.
func (s *Slot) Wait(ctx context.Context, after uint64) (uint64, error) {
	checkContext(ctx, "Wait")
	s.Check("Wait")
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if version, _ := s.snapshot(); version > after { // without asking, which allocates
		return version, nil
	}
	signal := s.waited.next()
	defer func() { s.waited.wakeIf(signal) }()
	for {
		switch version, closed := s.snapshot(); {
		case closed:
			return 0, ErrClosed
		case version > after:
			return version, nil
		}
		if err := seam.Wait(ctx, signal, nil); err != nil {
			return 0, err
		}
		signal = s.waited.next()
	}
}

// wake wakes all that wait for a version, or for the slot to close.
func (s *Slot) wake() {
	s.changed.wake()
	s.waited.wake()
}

// VersionOf returns the version of an object that the caller holds, or under
// which an object of the caller's was last current. It is 0 for nil, for an
// object that was never published, and for one that was given back or discarded
// since. It panics for an object that the caller cannot hold or own.
func (s *Slot) VersionOf(obj *Object) uint64 {
	const op = "VersionOf"
	s.Check(op)
	if obj == nil {
		return 0
	}
	counters := obj.counters.Load()
	if counters == nil {
		return 0
	}
	s.pool.checkOwn(obj, op)
	obj.checkNotReleased(op)
	return counters.Publication.Version.Load()
}
