package reload

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/poolswap/poolswap"
)

// tell makes the outcome of an attempt known.
func (r *Reloader) tell(ctx context.Context, e *Event) {
	e.At, e.Version = time.Now(), r.version()
	r.record(e)
	if r.options.Observe != nil {
		r.guard(ctx, "Observe", func() { r.options.Observe(*e) })
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

// recentEvents is how many swaps and failures the page shows.
const recentEvents = 20

// record writes an outcome into the status.
func (r *Reloader) record(e *Event) {
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
	case StillRefused:
		s.Refused = r.have
		if s.Err != e.Err { //nolint:errorlint // the very refusal: a failure since then is over
			s.Err, s.Failed = e.Err, e.At
		}
		if s.Version == 0 {
			r.fruitless++
		}
	default:
		r.fruitless = 0
		s.Failures, s.Refused, s.Stale = 0, "", e.Stale
		if e.Stale == nil {
			s.Checked = e.At
		}
	}
	if e.Outcome == Failed || e.Outcome == Loaded {
		if n := len(r.recent); n > 0 && r.recent[n-1].repeatedBy(e) { // swaps stay in sight
			e := *e
			e.Repeats = r.recent[n-1].Repeats + 1
			r.recent[n-1] = e
			return
		}
		if len(r.recent) == recentEvents {
			r.recent = append(r.recent[:0], r.recent[1:]...)
		}
		r.recent = append(r.recent, *e)
	}
}

// repeatedBy reports whether later failed with the same text.
func (e Event) repeatedBy(later *Event) bool {
	return e.Outcome == Failed && later.Outcome == Failed && e.Err.Error() == later.Err.Error()
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

// recordFailure writes a failure into the status. The caller has mu.
func (r *Reloader) recordFailure(e *Event) {
	s := &r.status
	r.fruitless++
	s.Failures++
	s.TotalFailures++
	s.Err, s.Failed = e.Err, e.At
	var failure *Error
	errors.As(e.Err, &failure)
	r.steady = failure.Refused
	switch {
	case failure.Refused:
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
