package reload

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/poolswap/poolswap"
)

// settle takes the result of an attempt into the state, and tells of it. The caller has
// the turn.
func (r *Reloader) settle(ctx context.Context, e *result) {
	e.At, e.Version = time.Now(), r.version()
	switch {
	case e.Outcome == NotModified && r.refusal != nil:
		e.Outcome, e.Err = StillRefused, r.refusal
	case e.Outcome == Loaded:
		r.have, r.sum, r.refusal = e.Revision, e.SHA256, nil
		if e.Base != "" {
			r.sum = "" // the same bytes can change other content
		}
		r.restorer, r.notKept = nil, nil
	case e.Outcome == Unchanged:
		r.have, r.refusal = e.Revision, nil
	case e.bad:
		r.have, r.refusal = e.Revision, nil
		if e.Revision != r.status.Revision { // Accept may refuse the loaded content, which stays
			r.refusal = e.Err
		}
	}
	r.record(e)
	if e.published != 0 { // a Close that takes long does not keep the status from telling
		r.closeBody(ctx, e.bodies)
	}
	r.tell(ctx, e)
}

// record writes a result into the status.
func (r *Reloader) record(e *result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.renew()
	s := &r.status
	s.Attempts++
	if e.ended { // says nothing about the source
		return
	}
	r.steady = true
	if e.DeltaErr != nil {
		s.DeltaErr = e.DeltaErr
	}
	switch e.Outcome {
	case Failed:
		r.recordFailure(e)
		r.recordRecent(e.Event)
		return
	case StillRefused:
		s.Refused = r.have
		if s.Err != e.Err { //nolint:errorlint // the very refusal: a failure since then is over
			s.Err, s.Failed = e.Err, e.At
		}
		if s.Version == 0 {
			r.fruitless++
		}
		return
	case Loaded:
		r.recordLoaded(e)
		r.recordRecent(e.Event)
	case Unchanged:
		s.Revision, s.Modified, s.ServedBy, s.kept = e.Revision, e.modified, e.ServedBy, e.kept
	case NotModified:
	}
	r.fruitless = 0
	s.Failures, s.Refused, s.Stale = 0, "", e.Stale
	if e.Stale == nil {
		s.Checked = e.At
	}
}

// recordLoaded writes a publication into the status. The caller has mu.
func (r *Reloader) recordLoaded(e *result) {
	s := &r.status
	s.Revision, s.Version, s.Loaded, s.Modified = e.Revision, e.published, e.At, e.modified
	s.SHA256, s.Size, s.Fetch, s.Load = e.SHA256, e.Size, e.Fetch, e.Load
	s.ServedBy, s.kept = e.ServedBy, e.kept
	s.Checked = e.At
	if e.kept && e.checked.Before(e.At) { // a later time is of a clock that was wrong
		s.Checked = e.checked
	}
	s.Swaps++
	if e.Base != "" {
		s.Deltas++
	}
}

// recordFailure writes a failure into the status. The caller has mu.
func (r *Reloader) recordFailure(e *result) {
	s := &r.status
	r.fruitless++
	s.Failures++
	s.TotalFailures++
	s.Err, s.Failed = e.Err, e.At
	refused := e.bad && e.Revision != ""
	r.steady = refused
	switch {
	case refused:
		s.Refused, s.Stale = e.Revision, nil // the origin has answered
		if e.Revision == s.Revision {        // Accept refused the loaded content
			s.Refused = ""
		}
	case e.Revision != "" && e.Revision != s.Refused: // Accept may fail to load that
		s.Refused = "" // there is something newer than the refused content
	}
	if s.Stale != nil {
		s.Stale = e.Err
	}
}

// recentEvents is how many swaps and failures the page shows.
const recentEvents = 20

// recordRecent notes an event for the page, where repeated failures do not push swaps out
// of sight. The caller has mu.
func (r *Reloader) recordRecent(e Event) {
	n := len(r.recent)
	if n > 0 && e.Outcome == Failed && r.recent[n-1].Outcome == Failed && e.Err.Error() == r.recent[n-1].Err.Error() {
		e.Repeats = r.recent[n-1].Repeats + 1
		r.recent[n-1] = e
		return
	}
	if n == recentEvents {
		r.recent = append(r.recent[:0], r.recent[1:]...)
	}
	r.recent = append(r.recent, e)
}

// renew says that another revision is known than before, if it is. The caller has
// mu.
func (r *Reloader) renew() {
	if r.known == r.status.known() {
		return
	}
	r.known = r.status.known()
	select {
	case r.renewed <- struct{}{}:
	default:
	}
}

// tell makes the result of an attempt known.
func (r *Reloader) tell(ctx context.Context, e *result) {
	if r.options.Observe != nil {
		r.guard(ctx, "Observe", func() { r.options.Observe(e.Event) })
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
		if e.Base != "" {
			attrs = append(attrs, slog.String("base", e.Base))
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

// guard calls a function of Options, whose panic is no reason to stop reloading.
func (r *Reloader) guard(ctx context.Context, name string, call func()) {
	if err := recovered(func() error { call(); return nil }); err != nil {
		r.options.Logger.LogAttrs(ctx, slog.LevelWarn, "reload: Options."+name, slog.String("source", r.name), slog.Any("error", err))
	}
}
