package oplog

import (
	"context"
	"errors"

	"github.com/poolswap/poolswap"
)

// ErrClaimed is the error of Publish, PublishFunc, Replace and Claim of a Log that has a
// [Writer].
var ErrClaimed = errors.New("oplog: the Log has a Writer, which alone may publish")

// Writer is the only publisher of a [Log], for content that follows an origin, as in
// package reload: another publisher's operations would make it differ. Make one with
// [Log.Claim]. Any number of goroutines may use it.
type Writer[T any, P poolswap.Object[T], Op any] struct{ log *Log[T, P, Op] }

// Claim returns the Log's Writer. From then on, others get ErrClaimed. Publications past
// the Log are not refused: see Publish.
func (l *Log[T, P, Op]) Claim() (*Writer[T, P, Op], error) {
	if err := l.take(context.Background(), false); err != nil {
		return nil, err
	}
	defer l.pass()
	l.claimed = true
	return &Writer[T, P, Op]{l}, nil
}

// Publish is [Log.Publish] of operations on one version: if another is current, it returns
// [poolswap.ErrConflict]. check, if not nil, looks at the result before it is published,
// and at the object that it replaces; its error ends the publication, and comes back
// unchanged. check must write to neither. With no operations, Publish returns 0 and nil.
func (w *Writer[T, P, Op]) Publish(ctx context.Context, from uint64, ops []Op, check func(next, current *T) error) (version uint64, err error) {
	checkContext(ctx, "Publish")
	if len(ops) == 0 {
		return 0, nil
	}
	if err := w.log.take(ctx, true); err != nil {
		return 0, err
	}
	defer w.log.pass()
	if from == anyVersion { // which no container has
		return 0, poolswap.ErrConflict
	}
	return w.log.publish(ctx, ops, from, check)
}

// Replace is [Log.Replace] by operations: fill calls apply, which is Options.Apply, for
// each, and then may look at next and at current, the object that it replaces, or nil.
// apply is for the goroutine of fill alone, until fill has returned.
func (w *Writer[T, P, Op]) Replace(ctx context.Context, fill func(next, current *T, apply func(op Op) error) error) (version uint64, err error) {
	checkContext(ctx, "Replace")
	if fill == nil {
		panic("oplog: Replace with a nil fill")
	}
	l := w.log
	if err := l.take(ctx, true); err != nil {
		return 0, err
	}
	defer l.pass()
	return l.replace(ctx, func(next, current *T) error {
		applied, ended := uint64(0), false
		defer func() { ended = true; l.counts.applied.Add(applied) }()
		return fill(next, current, func(op Op) error {
			if ended {
				panic("oplog: apply was called after the fill that Replace gave it to")
			}
			err := l.options.Apply(next, op)
			if err == nil {
				applied++
			}
			return err
		})
	})
}
