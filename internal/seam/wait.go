package seam

import "context"

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

// take fills turn, a channel with room for one. It returns false if it did not,
// because other is closed, or with ctx's error because ctx has ended. other may
// be nil.
func take(ctx context.Context, turn chan<- struct{}, other <-chan struct{}) (taken bool, err error) {
	select {
	case turn <- struct{}{}: // the usual case, without the cost of three
		return true, nil
	default:
	}
	select {
	case turn <- struct{}{}:
		return true, nil
	case <-other:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
