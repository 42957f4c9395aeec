package reload

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"
)

// notModified settles an attempt that found nothing newer than the content that is
// loaded, or was refused.
func (r *Reloader) notModified(e Event) Event {
	e.Outcome = NotModified
	if r.refusal != nil {
		e.Outcome, e.Err = StillRefused, r.refusal
	}
	return e
}

// loaded settles an attempt that published.
func (r *Reloader) loaded(e Event, a *attempt, version uint64, err error) Event {
	e.Outcome = Loaded
	a.published(err)
	r.have, r.sum, r.refusal = a.content.Revision, a.sum, nil
	if a.content.isDelta() {
		r.sum = [sha256.Size]byte{} // the same bytes can change other content
	}
	r.restorer, r.notKept = nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.status
	s.Revision, s.Version, s.Loaded, s.Modified = a.content.Revision, version, time.Now(), a.content.Modified
	s.SHA256 = e.SHA256
	s.Checked = s.Loaded
	if e.kept && e.checked.Before(s.Loaded) { // a later time is of a clock that was wrong
		s.Checked = e.checked
	}
	s.Size, s.Fetch, s.Load, s.Stale = e.Size, e.Fetch, e.Load, e.Stale
	s.ServedBy, s.kept = e.ServedBy, e.kept
	s.Swaps++
	if a.content.isDelta() {
		s.Deltas++
	}
	return e
}

// published tells the Source that its content is current, and logs the errors
// since.
func (a *attempt) published(err error) {
	if a.content.Published != nil {
		err = errors.Join(err, recovered(a.content.Published))
	}
	if err != nil {
		a.options.Logger.LogAttrs(a.ctx, slog.LevelWarn, "reload: published, but", slog.String("source", a.name), slog.Any("error", err))
	}
}

// unpublished settles an attempt that did not publish.
func (r *Reloader) unpublished(e Event, a *attempt, err error) Event {
	bad := a.stage == Loading && !errors.As(err, new(*retryable))
	wrong := errors.Is(err, errState)
	if wrong {
		a.stage = Verifying
	}
	switch {
	case errors.Is(err, errUnchanged):
		e.Outcome = Unchanged
		a.published(nil)
		r.have, r.refusal = a.content.Revision, nil
		r.mu.Lock()
		defer r.mu.Unlock()
		s := &r.status
		s.Revision, s.Modified, s.ServedBy, s.kept = a.content.Revision, a.content.Modified, e.ServedBy, e.kept
		return e
	case a.ctx.Err() != nil:
		e.ended = true
	case a.content.isDelta() && (bad || a.stage == Verifying || errors.Is(err, errBase)):
		e.unfit = true
	case wrong && e.kept: // the origin may have better
		e.bad = true
	case bad:
		return r.refused(e, a.stage, err)
	case errors.Is(err, errTooLarge), errors.Is(err, errExpands):
		return r.tooLarge(e, a, err)
	}
	return r.failed(e, a.stage, err, false)
}

// tooLarge settles an attempt whose content was not read to its end. If it was to be
// verified, it may be another than that of the revision: a refusal would last when the
// origin is honest again.
func (r *Reloader) tooLarge(e Event, a *attempt, err error) Event {
	e.unfit = a.content.isDelta()
	if e.unfit || e.kept || a.bodies.checked() { // the origin may have less than what was kept of it
		return r.failed(e, Reading, err, false)
	}
	return r.refused(e, Reading, err)
}

// refused settles an attempt whose content is bad.
func (r *Reloader) refused(e Event, stage Stage, err error) Event {
	r.have, e.bad = e.Revision, true
	e = r.failed(e, stage, err, e.Revision != "")
	r.refusal = nil
	if e.Revision != r.status.Revision { // Accept may refuse the loaded content, which stays
		r.refusal = e.Err
	}
	return e
}

// failed settles an attempt that failed.
func (r *Reloader) failed(e Event, stage Stage, err error, refused bool) Event {
	e.Outcome = Failed
	e.Err = &Error{Source: cmp.Or(e.ServedBy, r.name), Revision: e.Revision, Stage: stage, Refused: refused, Current: r.version(), Err: err, delta: e.unfit}
	return e
}
