package seam

import (
	"context"
	"sync/atomic"
)

// wait returns nil once one of the channels is closed, or else ctx's error once
// ctx ends. second may be nil.
func wait(ctx context.Context, first, second <-chan struct{}) error {
	select {
	case <-first:
		return nil
	case <-second:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// turn is a lock that a goroutine can wait for with a context. It passes from one
// that has it to the one that has waited longest; one that comes later cannot
// overtake.
type turn struct {
	users  atomic.Int64  // those that have it or wait for it: at most one has it
	passed chan struct{} // holds at most one token, which is the turn
}

func (t *turn) init() { t.passed = make(chan struct{}, 1) }

// take returns true with the turn. It returns false if other was closed first,
// with an error if ctx ended first. other may be nil.
func (t *turn) take(ctx context.Context, other <-chan struct{}) (taken bool, err error) {
	if t.users.Add(1) == 1 {
		return true, nil // it was with none
	}
	select {
	case <-t.passed:
		return true, nil
	case <-other:
	case <-ctx.Done():
		err = ctx.Err()
	}
	// Leave, unless this is the only user left: then the one that had the turn
	// has passed it here. The token is in place or about to be, and must be taken
	// before another user can come and take it for its own.
	for {
		users := t.users.Load()
		if users == 1 {
			<-t.passed
			t.pass()
			return false, err
		}
		if t.users.CompareAndSwap(users, users-1) {
			return false, err
		}
	}
}

// pass gives the turn up.
func (t *turn) pass() {
	if t.users.Add(-1) > 0 {
		t.passed <- struct{}{} // there is room: this user took the last token, if there was one
	}
}
