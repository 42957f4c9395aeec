package oplog

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/poolswap/poolswap"
)

// Log publishes operations on the current object of a container. Make one with
// [New]. It is safe for any number of goroutines, and must not be copied.
//
// Readers use its container; they never wait, for publishers or for each other.
// Publishers take turns. A publication costs one call of Apply for each operation
// that the object missed and for each new one; in the steady state, in which two
// objects alternate, that is twice the operations of a publication. Only Apply
// allocates. The package comment has the two rules for operations and objects.
//
// Declare one with all three type parameters, or by a name of your own:
//
//	type RouteLog = oplog.Log[Routes, *Routes, Route]
type Log[T any, P poolswap.Object[T], Op any] struct {
	options   Options[T, Op]
	pool      *poolswap.Pool[T, P]
	container *poolswap.Container[T, P]
	counts    counts

	turn    chan struct{} // full while a publisher has the turn
	journal journal[Op]   // guarded by turn
	claimed bool          // the same: there is a Writer

	// replayAtMost, if not nil, returns the number of operations from which on
	// Copy is cheaper than a replay.
	replayAtMost func(current *T) int
}

// New returns a Log that has published an empty object for its readers. It returns
// an error if options are not complete or not possible, and panics if options.New
// panics or returns nil.
func New[T any, P poolswap.Object[T], Op any](options Options[T, Op]) (*Log[T, P, Op], error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Keep == 0 {
		options.Keep = DefaultKeep
	}
	if options.Pool.Spares == 0 {
		options.Pool.Spares = 1
	}
	pool := poolswap.NewPoolWithOptions[T, P](options.New, nil, options.Pool)
	l := &Log[T, P, Op]{
		options:   options,
		pool:      pool,
		container: poolswap.NewContainer(pool, pool.Get()),
		turn:      make(chan struct{}, 1),
		journal:   journal[Op]{keep: options.Keep},
	}
	l.journal.base = l.container.Version()
	return l, nil
}

// Container returns the container that the Log publishes to, for readers:
// Acquire, NewReader, Versions and the like. Close it, or the pool, to end the
// Log.
//
// A program may publish there past the Log, or empty it: the log then starts anew
// from the current object, or from an empty one, and brings every other object up by
// Copy once. An object from Get, or in a fill, is not empty: it has the content of an
// old version.
func (l *Log[T, P, Op]) Container() *poolswap.Container[T, P] { return l.container }

// Pool returns the pool of the Log's objects, for Stats, Drain, Trim, Close and
// the like. Free objects keep the content of their version, so deleted content
// becomes garbage only once they have caught up; Trim gives them up.
func (l *Log[T, P, Op]) Pool() *poolswap.Pool[T, P] { return l.pool }

// Publish applies ops, in order, to the current content, and publishes the result
// as one version, which it returns. The version is nonzero if and only if ops were
// published. Publish copies the slice, which may change afterwards; the memory that
// the operations refer to must never change again. With no ops, Publish waits for
// nothing and returns 0 and nil.
//
// It waits for its turn and, under MaxLive, for an object, until ctx ends, and
// never for readers otherwise. If Apply fails, Publish returns an *[ApplyError] that
// names the operation, and the container is unchanged. It is unchanged, too, if Apply
// panics or calls runtime.Goexit; the panic passes on. Otherwise Publish returns the
// error of Copy, or one of [poolswap.Container.Publish]: ErrConflict if a
// publication past the log came between, after which Publish can be called again;
// ErrClosed; ctx's error; a *HeldError; or an *OverReleaseError with the version.
// Close ends the wait for an object at once, and the wait for the turn when the
// current publisher finishes.
//
// An operation that fails costs a Copy, which makes the half changed object anew
// while the other publishers wait. Check operations that may be bad before Publish,
// or in PublishFunc.
//
// A panic of the pool's Discard or Report passes through Publish after the
// operations were published. It panics if ctx is nil.
func (l *Log[T, P, Op]) Publish(ctx context.Context, ops ...Op) (version uint64, err error) {
	checkContext(ctx, "Publish")
	if len(ops) == 0 {
		return 0, nil
	}
	if err := l.take(ctx, false); err != nil {
		return 0, err
	}
	defer l.pass()
	return l.publish(ctx, ops, anyVersion, nil)
}

// PublishFunc is Publish of operations that follow from the current content: no
// other publisher of the Log comes between, so two goroutines that change one key
// lose nothing. It calls ops at most once, and not if the container is closed. ops
// must not write current, nor keep it, nor publish, which would wait for itself. If
// it returns an error, PublishFunc returns it unchanged; if it returns no operations,
// 0 and nil. Neither costs more than the call. current is nil if the container was
// emptied. PublishFunc panics if ctx or ops is nil.
func (l *Log[T, P, Op]) PublishFunc(ctx context.Context, ops func(current *T) ([]Op, error)) (version uint64, err error) {
	checkContext(ctx, "PublishFunc")
	if ops == nil {
		panic("oplog: PublishFunc with nil ops")
	}
	if err := l.take(ctx, false); err != nil {
		return 0, err
	}
	defer l.pass()
	derived, from, err := l.derive(ops)
	if err != nil || len(derived) == 0 {
		return 0, err
	}
	return l.publish(ctx, derived, from, nil)
}

// anyVersion tells publish to build on any current version.
const anyVersion = ^uint64(0)

// derive calls ops with the current object, and returns its version. It does so
// before it takes an object: one that is given back unpublished would need a Copy.
func (l *Log[T, P, Op]) derive(ops func(current *T) ([]Op, error)) (derived []Op, from uint64, err error) {
	current := l.container.Acquire()
	defer l.container.Release(current)
	if current == nil && l.closed() {
		return nil, 0, poolswap.ErrClosed
	}
	derived, err = ops(current)
	return derived, l.container.VersionOf(current), err
}

// closed tells an empty container that is closed from one that was emptied.
func (l *Log[T, P, Op]) closed() bool {
	select {
	case <-l.container.Changed(math.MaxUint64): // no version is above
		return l.container.Version() == 0
	default:
		return false
	}
}

// publish publishes ops. If from is not anyVersion, they fit that version alone. check,
// if not nil, can refuse the result. The caller has the turn.
func (l *Log[T, P, Op]) publish(ctx context.Context, ops []Op, from uint64, check func(next, current *T) error) (version uint64, err error) {
	// If a hook of the pool panics after the publication, the next turn finds a
	// version that the log does not know, and starts anew.
	filled := true // or fill was not called
	version, err = l.container.Publish(ctx, func(next, current *T) error {
		err := l.fill(next, current, ops, from)
		if err == nil && check != nil {
			err = check(next, current)
		}
		filled = err == nil
		return err
	})
	if version != 0 {
		l.journal.append(version, ops)
		l.counts.publications.Add(1)
		l.counts.operations.Add(uint64(len(ops)))
	} else if filled && errors.Is(err, poolswap.ErrClosed) { // an error of fill can be another container's
		l.journal.restart(0) // no object will need them
	}
	l.counts.kept.Store(int64(l.journal.kept()))
	return version, err
}

// fill makes the content of next that of current, with ops applied.
func (l *Log[T, P, Op]) fill(next, current *T, ops []Op, from uint64) error {
	if from != anyVersion && l.container.VersionOf(current) != from {
		return poolswap.ErrConflict
	}
	if err := l.catchUp(next, current); err != nil {
		return err
	}
	return l.apply(next, ops, 0)
}

// Replace publishes a full load: fill makes the content of an emptied object. It
// must not keep the object, and not publish, which would wait for itself. The log
// starts anew: Copy brings each other object up once, and the object has its old
// content until then. Everything else is as for [Log.Publish]; an error of fill
// comes back unchanged. Replace panics if ctx or fill is nil.
func (l *Log[T, P, Op]) Replace(ctx context.Context, fill func(next *T) error) (version uint64, err error) {
	checkContext(ctx, "Replace")
	if fill == nil {
		panic("oplog: Replace with a nil fill")
	}
	if err := l.take(ctx, false); err != nil {
		return 0, err
	}
	defer l.pass()
	return l.replace(ctx, func(next, _ *T) error { return fill(next) })
}

// replace publishes a full load by fill. The caller has the turn.
func (l *Log[T, P, Op]) replace(ctx context.Context, fill func(next, current *T) error) (version uint64, err error) {
	version, err = l.container.Publish(ctx, func(next, current *T) error {
		l.options.Reset(next)
		return fill(next, current)
	})
	if version != 0 {
		l.restart(version)
		l.counts.publications.Add(1)
	}
	return version, err
}

func checkContext(ctx context.Context, op string) {
	if ctx == nil {
		panic("oplog: " + op + " with a nil Context")
	}
}

func (l *Log[T, P, Op]) checkMade() {
	if l.turn == nil {
		panic("oplog: use of a zero Log (make one with New)")
	}
}

// take waits for the turn of a [Writer], or of another publisher, until ctx ends.
func (l *Log[T, P, Op]) take(ctx context.Context, writer bool) error {
	if err := l.await(ctx); err != nil {
		return err
	}
	if l.claimed != writer {
		l.pass()
		return ErrClaimed
	}
	return nil
}

// await waits for the turn until ctx ends.
func (l *Log[T, P, Op]) await(ctx context.Context) error {
	l.checkMade()
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pass gives the turn to the next publisher.
func (l *Log[T, P, Op]) pass() { <-l.turn }

// catchUp makes the content of obj that of current. obj belongs to the caller, and
// has exactly the content of its version, unless VersionOf is 0.
func (l *Log[T, P, Op]) catchUp(obj, current *T) error {
	now := l.container.VersionOf(current)
	if now != l.journal.last() {
		l.restart(now) // a publication past the log
	}
	version := l.container.VersionOf(obj)
	if current == nil { // emptied past the log
		l.options.Reset(obj)
		return nil
	}
	missed, known := l.journal.since(version)
	if version == 0 || !known || l.replayAtMost != nil && len(missed) > l.replayAtMost(current) {
		if err := l.options.Copy(obj, current); err != nil {
			return fmt.Errorf("oplog: copying version %d: %w", now, err)
		}
		l.counts.copies.Add(1)
		return nil
	}
	if len(missed) == 0 {
		return nil
	}
	if err := l.apply(obj, missed, len(missed)); err != nil {
		return err
	}
	l.counts.catchUps.Add(1)
	return nil
}

// apply applies ops to obj. missed is their number if they were published before,
// and 0 otherwise.
func (l *Log[T, P, Op]) apply(obj *T, ops []Op, missed int) error {
	applied := 0
	defer func() { l.counts.applied.Add(uint64(applied)) }()
	for i, op := range ops {
		if err := l.options.Apply(obj, op); err != nil {
			return &ApplyError{Index: i, Missed: missed, Err: err}
		}
		applied++
	}
	return nil
}

func (l *Log[T, P, Op]) restart(version uint64) {
	l.journal.restart(version)
	l.counts.restarts.Add(1)
	l.counts.kept.Store(0)
}
