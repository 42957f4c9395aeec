package oplog

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/poolswap/poolswap"
)

// ErrGone is the error of Changes if the operations after a version are not kept.
var ErrGone = errors.New("oplog: the operations after that version are not kept")

// Batch is the operations of one version.
type Batch[Op any] struct {
	Version uint64
	Ops     []Op
}

// Changes yields the operations of each version after the one given, in their order, and
// waits for the next version until ctx ends. The loop's last pair has an error: ErrGone,
// [poolswap.ErrClosed], or that of ctx.
//
// ErrGone says that the content of that version cannot be brought up by operations: more
// than Keep operations came since, a Replace, or a publication past the Log, or it never
// was a version of the Log. Begin anew, with the current object and its version:
//
//	view := container.Acquire()
//	version := container.VersionOf(view)
//	// use all of view
//	container.Release(view)
//	for batch, err := range log.Changes(ctx, version) { ... }
//
// The slice is the caller's, the memory that the operations refer to is not. A loop that
// is slow holds up nobody and costs no memory. Any number of goroutines may range over
// changes; a publication wakes those that wait. Changes panics if ctx is nil.
func (l *Log[T, P, Op]) Changes(ctx context.Context, after uint64) iter.Seq2[Batch[Op], error] {
	checkContext(ctx, "Changes")
	l.checkMade()
	return func(yield func(Batch[Op], error) bool) {
		for at := after; ; {
			batch, err := l.next(ctx, at)
			if !yield(batch, err) || err != nil {
				return
			}
			at = batch.Version
		}
	}
}

// next waits for the publication that follows a version.
func (l *Log[T, P, Op]) next(ctx context.Context, after uint64) (Batch[Op], error) {
	for {
		if err := ctx.Err(); err != nil {
			return Batch[Op]{}, err
		}
		batch, place, changed := l.journal.next(after)
		switch place {
		case between:
			return batch, nil
		case before:
			return batch, ErrGone
		case newest:
			select {
			case <-l.container.Changed(after):
			case <-changed:
				continue
			case <-ctx.Done():
				return batch, ctx.Err()
			}
		}
		// The container has a version that the journal does not know, or is closed. A
		// publisher of the Log is about to note it, and otherwise the turn is free.
		select {
		case <-changed:
		case <-ctx.Done():
			return batch, ctx.Err()
		case l.turn <- struct{}{}:
			err := l.unknown(after)
			l.pass()
			if err != nil {
				return batch, err
			}
		}
	}
}

// unknown returns why a version has no successor in the journal, or nil if it may have
// one now. The caller has the turn.
func (l *Log[T, P, Op]) unknown(after uint64) error {
	switch last := l.journal.last(); {
	case l.closed():
		return poolswap.ErrClosed
	case after > last || last != l.container.Version():
		return ErrGone
	}
	return nil
}

// where a version is among those of the journal.
type where int

const (
	between where = iota // there is a later one
	newest
	before // it is not known, or not any more
	beyond // it is not known yet
)

// next returns the publication that follows a version, if there is one, and a channel
// that is closed by the next change of the journal. Any goroutine may call it.
func (j *journal[Op]) next(version uint64) (next Batch[Op], place where, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch last := j.last(); {
	case version > last:
		place = beyond
	case version == last:
		place = newest
	default:
		ops, known := j.since(version)
		if !known {
			return next, before, nil
		}
		begin := len(j.ops.all()) - len(ops)
		i, _ := slices.BinarySearchFunc(j.batches.all(), version+1, compareVersion)
		b := j.batches.all()[i]
		return Batch[Op]{b.version, slices.Clone(j.ops.all()[begin : b.end-j.dropped])}, between, nil
	}
	if j.changed == nil {
		j.changed = make(chan struct{})
	}
	return next, place, j.changed
}
