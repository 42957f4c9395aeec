package reload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/poolswap/poolswap"
)

// attempt is one try to load the source's content. This file takes it from the fetch
// to the publication, settle.go says how it ended, and outcome.go tells of it.
type attempt struct {
	*Reloader

	ctx     context.Context
	content *Content
	bodies  *bodies
	sum     [sha256.Size]byte // the digest of all bodies
	stage   Stage
}

// errUnchanged ends a fill that made a copy of the current object.
var errUnchanged = errors.New("the content is loaded already")

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
	ctx = r.contextFor(ctx)
	kept := r.loadKept(ctx)
	var e Event
	for range rereads {
		accepted := ""
		if accept != nil {
			accepted = *accept
		}
		e = r.attemptOnce(ctx, accept != nil, accepted)
		if e.unfit {
			e = r.attemptWhole(ctx, accepted, e.Err)
		}
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
	if r.restorer == nil {
		return false
	}
	began := time.Now()
	var content *Content
	var checked time.Time
	err := recovered(func() (err error) {
		content, checked, err = r.restorer.Restore(ctx)
		return err
	})
	if ctx.Err() != nil {
		if content != nil {
			content.Body.Close()
		}
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
	e := r.load(ctx, Event{Fetch: time.Since(began), kept: true, checked: checked}, content, errNotAsked)
	if e.ended {
		return false
	}
	if e.Outcome != Failed || e.bad { // another failure says nothing about it
		r.restorer = nil
	}
	r.tell(ctx, &e)
	return e.Outcome == Loaded
}

// attemptOnce fetches content, if whole of any revision and no delta, and loads it. accept
// is a revision to accept, or "".
func (r *Reloader) attemptOnce(ctx context.Context, whole bool, accept string) (e Event) {
	have := r.have
	if whole {
		have = ""
	}
	r.whole.Store(whole)
	began := time.Now()
	var content *Content
	err := recovered(func() (err error) {
		content, err = r.source.Fetch(ctx, have)
		return err
	})
	e.Fetch = time.Since(began)
	if err != nil {
		if errors.Is(err, ErrNotModified) && have != "" {
			e.Stale = staleOf(err)
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
	content.Accepted = accept != "" && content.Revision == accept
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

// load loads and publishes content. stale is why there may be something newer.
func (r *Reloader) load(ctx context.Context, e Event, content *Content, stale error) Event {
	e.Revision = content.Revision
	if err := content.closeMalformed(); err != nil {
		return r.failed(e, Fetching, err, false)
	}
	if r.base == nil && (content.isDelta() || content.isChain()) {
		content.discard()
		return r.failed(e, Fetching, errNoLog, false)
	}
	e.Base = content.Base
	e.Stale, e.ServedBy = join(stale, content.Stale), content.servedBy(r.name)
	content.Source, content.Modified = cmp.Or(content.Source, r.name), inJSON(content.Modified)
	a := &attempt{Reloader: r, ctx: ctx, stage: Publishing}
	a.bodies, a.content = newBodies(ctx, content, r.options.MaxBytes)
	defer a.closeBody()
	if announced := a.bodies.announced(); announced > r.options.MaxBytes {
		return r.tooLarge(e, a, fmt.Errorf("%w (%d): %d bytes are announced", errTooLarge, r.options.MaxBytes, announced))
	}

	waiting, cancel := context.WithTimeout(ctx, r.options.ObjectWait)
	defer cancel()
	began := time.Now()
	version, err := r.publish(waiting, a)
	e.Load, e.Size = time.Since(began), a.bodies.total.Load()
	if a.sum != [sha256.Size]byte{} {
		e.SHA256 = hex.EncodeToString(a.sum[:])
	}
	if version != 0 {
		return r.loaded(e, a, version, err)
	}
	return r.unpublished(e, a, err)
}

// publisher returns a function that publishes the content of an attempt in c: it
// fills an object with load, and returns the version, or 0.
func publisher[T any, P poolswap.Object[T]](c *poolswap.Container[T, P], load func(ctx context.Context, next, current *T, content *Content) error) func(context.Context, *attempt) (uint64, error) {
	return func(ctx context.Context, a *attempt) (uint64, error) {
		return c.Publish(ctx, func(next, current *T) error {
			return a.fill(c.VersionOf(current), func() error { return load(a.ctx, next, current, a.content) })
		})
	}
}

// fill fills an object from the pool, before its publication. current is the version
// that it is to replace.
func (a *attempt) fill(current uint64, load func() error) error {
	a.stage = Verifying
	if err := a.content.verifyFirst(); err != nil {
		return err
	}
	a.stage = Loading
	refusal := recovered(load)
	if errors.As(refusal, new(*retryable)) {
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
