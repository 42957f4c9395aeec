package reload

import (
	"context"
	"sync/atomic"
)

// Value is the current T of a source: a T and a Reloader that replaces it, without a
// pool. Make one with [NewValue], and call Run, Reload or both of its Reloader. It is
// safe for any number of goroutines, and must not be copied.
//
// The garbage collector takes an old T when no reader has it any more, so readers give
// nothing back, and each swap makes a new T. That is good for a T that is small, or
// changes seldom, or allocates anew with each load, like a map of strings. A container
// with a pool, and [New], are for a T whose memory is worth keeping, or that must be
// closed: a Value closes nothing.
//
// A publication synchronizes before each Load that returns its T, and each Wait that
// returns its version.
type Value[T any] struct {
	*Reloader
	current atomic.Pointer[version[T]] // written by the attempt that has the turn
}

// version is a T that was published, or a zero T of number 0. Nothing writes to it.
type version[T any] struct {
	value    T
	number   uint64
	replaced chan struct{} // closed when the next is current
}

// NewValue returns a Value without a T yet. decode makes a T from content, by its Body,
// to the end or not, or its File; it must not keep the content. An error of decode
// refuses the content, as in [New]. ctx is that of the attempt. To compare with the T
// before, decode can call Load.
//
// NewValue panics if source or decode is nil, or an option is negative. Options.Stats
// may be nil: there is no pool.
func NewValue[T any](source Source, decode func(ctx context.Context, content *Content) (T, error), options Options) *Value[T] {
	switch {
	case source == nil:
		panic("reload: NewValue with a nil Source")
	case decode == nil:
		panic("reload: NewValue with a nil decode")
	}
	v := &Value[T]{Reloader: newReloader("NewValue", source, options)}
	v.current.Store(&version[T]{replaced: make(chan struct{})})
	v.version = func() uint64 { _, number := v.Load(); return number }
	v.wait = v.Wait
	v.publish = func(_ context.Context, a *attempt) (number uint64, err error) {
		var value T
		err = a.fill(v.version(), func() (err error) {
			value, err = decode(a.ctx, a.content)
			return err
		})
		if err != nil {
			return 0, err
		}
		return v.store(value), nil
	}
	return v
}

// Load returns the current T and its version, or a zero T and 0 if nothing is loaded
// yet. All readers share the T, so they must not write to what it points to. Load is
// wait-free and allocates nothing; it copies the T, so let T be a pointer if it is
// large.
func (v *Value[T]) Load() (value T, version uint64) {
	current := v.current.Load()
	return current.value, current.number
}

// Wait waits until the version is above after, and returns it: Wait(ctx, 0) returns
// once something is loaded. A Load that comes later returns that version or a newer
// one. If ctx ends first, Wait returns its error. It panics if ctx is nil.
func (v *Value[T]) Wait(ctx context.Context, after uint64) (version uint64, err error) {
	if ctx == nil {
		panic("reload: Wait with a nil Context")
	}
	for {
		current := v.current.Load()
		if current.number > after {
			return current.number, nil
		}
		select {
		case <-current.replaced:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// store publishes a value and returns its version.
func (v *Value[T]) store(value T) (number uint64) {
	before := v.current.Load()
	number = before.number + 1
	v.current.Store(&version[T]{value, number, make(chan struct{})})
	close(before.replaced)
	return number
}
