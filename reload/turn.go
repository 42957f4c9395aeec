package reload

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// takeTurn waits until the caller may make an attempt.
func (r *Reloader) takeTurn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Reloader) passTurn() { <-r.turn }

// rereads is how often content that changed while it was read is read again
// before the attempt fails.
const rereads = 3

// attemptNow makes an attempt: see try. It returns what Reload or Accept does. The caller
// has the turn.
func (r *Reloader) attemptNow(ctx context.Context, whole bool, accept string) error {
	r.mu.Lock()
	r.begun++
	number := r.begun
	r.mu.Unlock()
	ctx = r.contextFor(ctx)
	kept := r.loadKept(ctx)
	var e result
	for range rereads {
		e = r.try(ctx, whole, accept)
		if e.unfit {
			r.options.Logger.LogAttrs(ctx, slog.LevelWarn, "reload: a delta did not fit, so all is fetched", slog.String("source", r.name), slog.Any("error", e.Err))
			unfit := e.Err
			e = r.try(ctx, true, accept)
			e.DeltaErr = unfit
		}
		if e.bad || !errors.Is(e.Err, ErrChanged) {
			break
		}
	}
	r.settle(ctx, &e)
	select {
	case r.tried <- struct{}{}:
	default:
	}
	err := e.Err
	if kept {
		err = nil
	}
	if !e.ended {
		r.served = served{number, err}
	}
	if whole { // Accept ignores the cached load
		return e.Err
	}
	return err
}

// try fetches content, if whole of any revision and no delta, and loads it. accept is a
// revision to accept, or "".
func (r *Reloader) try(ctx context.Context, whole bool, accept string) result {
	r.whole.Store(whole)
	a := r.begin(ctx)
	a.whole, a.accept, a.notKept = whole, accept, r.notKept
	if !whole {
		a.have = r.have
	}
	return a.run()
}

// begin returns an attempt that has not fetched content yet.
func (r *Reloader) begin(ctx context.Context) attempt {
	return attempt{setup: &r.setup, ctx: ctx, sum: r.sum, version: r.status.Version, stage: Fetching}
}

// loadKept loads the content that the source has kept for this process, until
// something was loaded or the kept content was refused. It reports whether it
// published.
func (r *Reloader) loadKept(ctx context.Context) bool {
	if r.restorer == nil {
		return false
	}
	a := r.begin(ctx)
	began := time.Now()
	var content *Content
	err := recovered(func() (err error) {
		content, a.checked, err = r.restorer.Restore(ctx)
		return err
	})
	if ctx.Err() != nil {
		content.discard()
		return false
	}
	if err != nil { // perhaps for a moment: it is asked again while nothing is loaded
		if r.notKept == nil || r.notKept.Error() != err.Error() {
			r.options.Logger.LogAttrs(ctx, slog.LevelWarn, "reload: kept content cannot be used", slog.String("source", r.name), slog.Any("error", err))
		}
		r.notKept = err
		return false
	}
	r.notKept = nil
	if content == nil {
		r.restorer = nil
		return false
	}
	a.kept, a.Fetch, a.Stale = true, time.Since(began), errNotAsked
	e := a.load(content)
	if e.ended {
		return false
	}
	if e.Outcome != Failed || e.bad || errors.Is(e.Err, errState) { // another failure says nothing about it
		r.restorer = nil
	}
	r.settle(ctx, &e)
	return e.Outcome == Loaded
}

// errNotAsked is why content from a Cache is stale until the origin was asked.
var errNotAsked = errors.New("the origin was not asked yet")
