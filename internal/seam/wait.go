package seam

import (
	"context"
	"slices"
	"sync"
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

// turn is a lock that a goroutine can wait for with a context. It passes to the
// one that has waited longest; one that comes later cannot overtake.
type turn struct {
	mu      sync.Mutex
	taken   bool            // some goroutine has the turn
	waiting []chan struct{} // of those that wait, in order; closed when the turn passes there
}

// take returns true with the turn. It returns false if other was closed first,
// also where the turn is free, and with an error if ctx ended first. other may be
// nil.
func (t *turn) take(ctx context.Context, other <-chan struct{}) (taken bool, err error) {
	select {
	case <-other:
		return false, nil
	default:
	}
	t.mu.Lock()
	if !t.taken {
		t.taken = true
		t.mu.Unlock()
		return true, nil
	}
	mine := make(chan struct{})
	t.waiting = append(t.waiting, mine)
	t.mu.Unlock()
	select {
	case <-mine:
		return true, nil
	case <-other:
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if at := slices.Index(t.waiting, mine); at >= 0 {
		t.waiting = slices.Delete(t.waiting, at, at+1)
	} else {
		t.passLocked() // it came too late
	}
	return false, err
}

// pass gives the turn up.
func (t *turn) pass() {
	t.mu.Lock()
	t.passLocked()
	t.mu.Unlock()
}

// passLocked is pass for a caller that holds mu.
func (t *turn) passLocked() {
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
}
