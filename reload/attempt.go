package reload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/poolswap/poolswap"
)

// attempt is one try to load what the source has.
type attempt struct {
	*Reloader

	ctx     context.Context
	content *Content
	body    *body
	sum     [sha256.Size]byte
	stage   Stage
}

// mismatch is content that Verify refused. Twice the same is the origin's fault,
// once may be the transfer's.
type mismatch struct {
	revision string
	sum      [sha256.Size]byte
}

// errUnchanged ends a fill that made what is current already.
var errUnchanged = errors.New("the content is what is loaded already")

// rereads is how often content that changed while it was read is read again
// before the attempt fails.
const rereads = 3

// attemptNow makes an attempt to load what is newer than have. The caller has
// the turn.
func (r *Reloader) attemptNow(ctx context.Context, have string) error {
	r.mu.Lock()
	r.begun++
	number := r.begun
	r.mu.Unlock()
	var e Event
	for range rereads {
		e = r.attemptOnce(ctx, have)
		if !errors.Is(e.Err, ErrChanged) {
			break
		}
	}
	r.tell(ctx, &e)
	err := e.Err
	if e.Outcome == NotModified {
		err = r.refusal // what is newest is still what was refused, or nil
	}
	if !e.ended {
		r.served = served{number, err}
	}
	return err
}

func (r *Reloader) attemptOnce(ctx context.Context, have string) (e Event) {
	began := time.Now()
	var content *Content
	err := recovered(func() (err error) {
		content, err = r.source.Fetch(ctx, have)
		return err
	})
	e.Fetch = time.Since(began)
	if err != nil {
		if errors.Is(err, ErrNotModified) {
			e.Outcome = NotModified
			return e
		}
		e.ended = ctx.Err() != nil
		return r.failed(e, Fetching, err, false)
	}
	if content == nil {
		return r.failed(e, Fetching, errors.New("the Source returned neither content nor an error"), false)
	}
	e.Revision, e.Stale = content.Revision, content.Stale
	a := &attempt{Reloader: r, ctx: ctx, content: content, stage: Publishing}
	a.body = newBody(ctx, content, r.options.MaxBytes)
	content.Body = a.body
	defer a.body.end() //nolint:errcheck // it was read
	if content.Size > r.options.MaxBytes {
		a.body.err = fmt.Errorf("%w (%d): %d bytes are announced", errTooLarge, r.options.MaxBytes, content.Size)
		return r.refused(e, Reading, a.body.err)
	}

	waiting, cancel := context.WithTimeout(ctx, r.options.ObjectWait)
	defer cancel()
	began = time.Now()
	version, err := r.publish(waiting, a)
	e.Load, e.Size = time.Since(began), a.body.read
	if version != 0 {
		return r.loaded(e, a, version, err)
	}
	return r.unpublished(e, a, err)
}

// fill is what happens between an object from the pool and its publication.
// current is the version that it is to replace.
func (a *attempt) fill(current uint64, load func() error) error {
	a.stage = Loading
	if err := recovered(load); err != nil {
		if failure := cmp.Or(a.body.failure(), a.body.changed()); failure != nil {
			a.stage = Reading // the cause of the other
			return failure
		}
		return err
	}
	a.stage = Reading
	sum, err := a.body.finish()
	if err != nil {
		return err
	}
	a.sum = sum
	a.stage = Verifying
	if a.content.Verify != nil {
		if err := recovered(func() error { return a.content.Verify(sum) }); err != nil {
			return err
		}
	}
	a.stage = Publishing
	if sum == a.Reloader.sum && current != 0 && current == a.status.Version {
		return errUnchanged
	}
	return a.ctx.Err() // it may have ended while load ran
}

// loaded settles an attempt that published.
func (r *Reloader) loaded(e Event, a *attempt, version uint64, err error) Event {
	e.Outcome = Loaded
	if a.content.Published != nil {
		err = errors.Join(err, recovered(a.content.Published))
	}
	if err != nil {
		r.options.Logger.LogAttrs(a.ctx, slog.LevelWarn, "reload: published, but", slog.String("source", r.name), slog.Any("error", err))
	}
	r.have, r.sum, r.wrong, r.refusal = a.content.Revision, a.sum, mismatch{}, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.status
	s.Revision, s.Version, s.Loaded, s.Modified = a.content.Revision, version, time.Now(), a.content.Modified
	s.Size, s.Fetch, s.Load, s.Stale = e.Size, e.Fetch, e.Load, e.Stale
	s.Swaps++
	return e
}

// unpublished settles an attempt that did not publish.
func (r *Reloader) unpublished(e Event, a *attempt, err error) Event {
	switch {
	case errors.Is(err, errUnchanged):
		e.Outcome = Unchanged
		r.have, r.refusal = a.content.Revision, nil
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status.Revision, r.status.Modified, r.status.Stale = a.content.Revision, a.content.Modified, e.Stale
		return e
	case a.ctx.Err() != nil:
		e.ended = true
	case a.stage == Loading:
		return r.refused(e, Loading, err)
	case errors.Is(err, errTooLarge):
		return r.refused(e, Reading, err)
	case a.stage == Verifying:
		wrong := mismatch{a.content.Revision, a.sum}
		if wrong == r.wrong {
			return r.refused(e, Verifying, err)
		}
		r.wrong = wrong
	}
	return r.failed(e, a.stage, err, false)
}

// refused settles an attempt whose content is bad.
func (r *Reloader) refused(e Event, stage Stage, err error) Event {
	r.have = e.Revision
	e = r.failed(e, stage, err, e.Revision != "")
	r.refusal = e.Err
	return e
}

// failed settles an attempt that failed.
func (r *Reloader) failed(e Event, stage Stage, err error, refused bool) Event {
	e.Outcome = Failed
	e.Err = &Error{Source: r.name, Revision: e.Revision, Stage: stage, Refused: refused, Current: r.version(), Err: err}
	return e
}

// tell makes the outcome of an attempt known.
func (r *Reloader) tell(ctx context.Context, e *Event) {
	e.At, e.Version = time.Now(), r.version()
	r.record(e)
	if r.options.Observe != nil {
		r.options.Observe(*e)
	}
	switch logger := r.options.Logger; e.Outcome {
	case Failed:
		if !e.ended && !errors.Is(e.Err, poolswap.ErrClosed) {
			logger.LogAttrs(ctx, slog.LevelWarn, "reload: failed", slog.String("source", r.name), slog.Any("error", e.Err), slog.Int("failures", r.Status().Failures))
		}
	case Loaded:
		attrs := []slog.Attr{
			slog.String("source", r.name), slog.String("revision", e.Revision), slog.Uint64("version", e.Version),
			slog.Int64("bytes", e.Size), slog.Duration("fetch", e.Fetch), slog.Duration("load", e.Load),
		}
		if e.Stale != nil {
			attrs = append(attrs, slog.Any("stale", e.Stale))
		}
		logger.LogAttrs(ctx, slog.LevelInfo, "reload: loaded", attrs...)
	default:
		if logger.Enabled(ctx, slog.LevelDebug) {
			logger.LogAttrs(ctx, slog.LevelDebug, "reload: "+string(e.Outcome), slog.String("source", r.name), slog.Uint64("version", e.Version))
		}
	}
}

// recentEvents is how many swaps and failures the page shows.
const recentEvents = 20

// record writes an outcome into the status.
func (r *Reloader) record(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.status
	s.Attempts++
	switch {
	case e.ended: // says nothing about the source
		return
	case e.Outcome == Failed:
		s.Failures++
		s.TotalFailures++
		s.Err, s.Failed = e.Err, e.At
		if r.have != s.Revision {
			s.Refused = r.have
		}
	case e.Outcome == NotModified && r.have != s.Revision: // what it has is still what was refused
		return
	case e.Stale != nil: // good, but not known to be the newest
		s.Failures, s.Refused = 0, ""
	default:
		s.Failures, s.Refused, s.Checked, s.Stale = 0, "", e.At, nil
	}
	if e.Outcome == Failed || e.Outcome == Loaded {
		if len(r.recent) == recentEvents {
			r.recent = append(r.recent[:0], r.recent[1:]...)
		}
		r.recent = append(r.recent, *e)
	}
}
