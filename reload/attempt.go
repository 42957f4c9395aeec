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

// attempt is one try to load the source's content.
type attempt struct {
	*Reloader

	ctx     context.Context
	content *Content
	bodies  *bodies
	sum     [sha256.Size]byte // the digest of all bodies
	stage   Stage
}

// mismatch is content that Verify refused. Twice the same is the origin's fault,
// once may be the transfer's.
type mismatch struct {
	revision string
	sum      [sha256.Size]byte
}

// errUnchanged ends a fill that made a copy of the current object.
var errUnchanged = errors.New("the content is what is loaded already")

// rereads is how often content that changed while it was read is read again
// before the attempt fails.
const rereads = 3

// errNotAsked is why content from a Cache is stale until the origin was asked.
var errNotAsked = errors.New("the origin was not asked yet")

// attemptNow makes an attempt. accept is a revision to accept, or nil. The caller
// has the turn.
func (r *Reloader) attemptNow(ctx context.Context, accept *string) error {
	r.mu.Lock()
	r.begun++
	number := r.begun
	r.mu.Unlock()
	kept := r.loadKept(ctx)
	var e Event
	for range rereads {
		e = r.attemptOnce(ctx, accept)
		if !errors.Is(e.Err, ErrChanged) {
			break
		}
	}
	r.tell(ctx, &e)
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
	if accept != nil { // Accept ignores the cached load
		return e.Err
	}
	return err
}

// loadKept loads the content that the source has kept for this process, until
// something was loaded or the kept content was refused. It reports whether it
// published.
func (r *Reloader) loadKept(ctx context.Context) bool {
	if r.keeper == nil {
		return false
	}
	began := time.Now()
	var content *Content
	var checked time.Time
	err := recovered(func() (err error) {
		content, checked, err = r.keeper.Kept(ctx)
		return err
	})
	if ctx.Err() != nil {
		if content != nil {
			content.Body.Close()
		}
		return false
	}
	if err != nil {
		r.options.Logger.LogAttrs(ctx, slog.LevelWarn, "reload: what was kept cannot be used", slog.String("source", r.name), slog.Any("error", err))
		r.notKept = err
	}
	if err != nil || content == nil {
		r.keeper = nil
		return false
	}
	e := r.load(ctx, Event{Fetch: time.Since(began), checked: checked}, content, errNotAsked)
	if e.ended {
		return false
	}
	if e.Outcome != Failed || e.bad { // another failure says nothing about it
		r.keeper = nil
	}
	r.tell(ctx, &e)
	return e.Outcome == Loaded
}

func (r *Reloader) attemptOnce(ctx context.Context, accept *string) (e Event) {
	have := r.have
	if accept != nil {
		have = ""
	}
	began := time.Now()
	var content *Content
	err := recovered(func() (err error) {
		content, err = r.source.Fetch(ctx, have)
		return err
	})
	e.Fetch = time.Since(began)
	if err != nil {
		if errors.Is(err, ErrNotModified) && have != "" {
			return r.notModified(e)
		}
		err = notFirst(err)
		e.ended = ctx.Err() != nil
		if r.notKept != nil {
			err = fmt.Errorf("%w; %w", err, r.notKept)
		}
		return r.failed(e, Fetching, err, false)
	}
	if content == nil {
		return r.failed(e, Fetching, content.malformed(), false)
	}
	content.Accepted = accept != nil && content.Revision == *accept
	return r.load(ctx, e, content, nil)
}

// notFirst returns the error of a Fetch without a revision, to which a Source
// cannot say that there is nothing newer.
func notFirst(err error) error {
	if errors.Is(err, ErrNotModified) {
		return errors.New("the Source returned ErrNotModified for no revision")
	}
	return err
}

// notModified settles an attempt that found nothing newer than the content that is
// loaded, or was refused.
func (r *Reloader) notModified(e Event) Event {
	e.Outcome = NotModified
	if r.refusal != nil {
		e.Outcome, e.Err = StillRefused, r.refusal
	}
	return e
}

// load loads and publishes content. stale is why there may be something newer.
func (r *Reloader) load(ctx context.Context, e Event, content *Content, stale error) Event {
	e.Revision, e.Stale = content.Revision, stale
	if err := content.closeMalformed(); err != nil {
		return r.failed(e, Fetching, err, false)
	}
	content.Source = r.name
	a := &attempt{Reloader: r, ctx: ctx, stage: Publishing}
	a.bodies, a.content = newBodies(ctx, content, r.options.MaxBytes)
	defer a.closeBody()
	if announced := a.bodies.announced(); announced > r.options.MaxBytes {
		return r.refused(e, Reading, fmt.Errorf("%w (%d): %d bytes are announced", errTooLarge, r.options.MaxBytes, announced))
	}

	waiting, cancel := context.WithTimeout(ctx, r.options.ObjectWait)
	defer cancel()
	began := time.Now()
	version, err := r.publish(waiting, a)
	e.Load, e.Size = time.Since(began), a.bodies.total.Load()
	if version != 0 {
		return r.loaded(e, a, version, err)
	}
	return r.unpublished(e, a, err)
}

// fill fills an object from the pool, before its publication.
// current is the version that it is to replace.
func (a *attempt) fill(current uint64, load func() error) error {
	a.stage = Loading
	refusal := recovered(load)
	if errors.As(refusal, new(*temporary)) {
		return refusal
	}
	if err := a.whole(); err != nil { // load may have refused bytes that the origin never sent
		return withRefusal(err, refusal)
	}
	if refusal != nil {
		a.stage = Loading
		return refusal
	}
	a.stage = Publishing
	if a.sum == a.Reloader.sum && current != 0 && current == a.status.Version {
		return errUnchanged
	}
	return a.ctx.Err() // it may have ended while load ran
}

// whole reads what load left, and fails unless the content is complete, unchanged
// and verified.
func (a *attempt) whole() error {
	a.stage = Reading
	sums, err := a.bodies.finish()
	if err = cmp.Or(err, a.bodies.failure()); err != nil {
		return err
	}
	a.sum = digestOf(sums)
	a.stage = Verifying
	return a.bodies.verify(sums)
}

// withRefusal returns err, which caused the refusal by load if there was one.
func withRefusal(err, refusal error) error {
	if refusal == nil || errors.Is(refusal, err) {
		return err
	}
	return fmt.Errorf("%w (load: %v)", err, refusal) //nolint:errorlint // the refusal is no cause of err
}

// closeBody closes the Body, which was read: an error of Close is of no use then.
// A panic is a bug of the Source.
func (a *attempt) closeBody() {
	var panicked *poolswap.HookPanicError
	if err := recovered(a.bodies.end); errors.As(err, &panicked) {
		a.options.Logger.LogAttrs(a.ctx, slog.LevelWarn, "reload: Close of the Body", slog.String("source", a.name), slog.Any("error", err))
	}
}

// loaded settles an attempt that published.
func (r *Reloader) loaded(e Event, a *attempt, version uint64, err error) Event {
	e.Outcome = Loaded
	a.published(err)
	r.have, r.sum, r.wrong, r.refusal = a.content.Revision, a.sum, mismatch{}, nil
	r.keeper, r.notKept = nil, nil
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.status
	s.Revision, s.Version, s.Loaded, s.Modified = a.content.Revision, version, time.Now(), a.content.Modified
	s.Checked = s.Loaded
	if e.Stale != nil && e.checked.Before(s.Loaded) { // a later time is of a clock that was wrong
		s.Checked = e.checked
	}
	s.Size, s.Fetch, s.Load, s.Stale = e.Size, e.Fetch, e.Load, e.Stale
	s.Swaps++
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
	switch {
	case errors.Is(err, errUnchanged):
		e.Outcome = Unchanged
		a.published(nil)
		r.have, r.refusal = a.content.Revision, nil
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status.Revision, r.status.Modified = a.content.Revision, a.content.Modified
		return e
	case a.ctx.Err() != nil:
		e.ended = true
	case a.stage == Loading && !errors.As(err, new(*temporary)):
		return r.refused(e, Loading, err)
	case errors.Is(err, errTooLarge), errors.Is(err, errExpands):
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
	e.Err = &Error{Source: r.name, Revision: e.Revision, Stage: stage, Refused: refused, Current: r.version(), Err: err}
	return e
}
