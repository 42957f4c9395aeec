package reload

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/poolswap/poolswap"
)

// attempt is one try to load content. The Reloader begins it; it walks the stages from
// the fetch to the publication, and ends with its result, which the Reloader settles.
type attempt struct {
	*setup

	ctx     context.Context
	have    string // the revision that the Source is told
	whole   bool   // it takes no delta
	accept  string // the revision to accept, or ""
	sum     string // of the loaded content, see Reloader
	version uint64 // of the loaded content
	notKept error  // why there was no kept content, or nil

	stage   Stage
	content *Content
	result
}

// result is how an attempt ended, for settle.
type result struct {
	Event
	modified  time.Time
	published uint64  // the version, or 0
	bodies    *bodies // of the content; open still if it was published

	ended bool // it failed, and its ctx had ended
	unfit bool // it failed as a delta: whole content may succeed
	bad   bool // it failed for its content, which is refused if it has a revision

	kept    bool      // the content was restored
	checked time.Time // when that was last known to be the newest
}

// errUnchanged ends a fill that made a copy of the current object.
var errUnchanged = errors.New("the content is loaded already")

// run fetches content and loads it.
func (a *attempt) run() result {
	began := time.Now()
	var content *Content
	err := recovered(func() (err error) {
		content, err = a.source.Fetch(a.ctx, a.have)
		return err
	})
	a.Fetch = time.Since(began)
	switch {
	case err == nil:
		loading := *a // a stays on the stack, so an idle poll allocates nothing
		return loading.load(content)
	case errors.Is(err, ErrNotModified) && a.have != "":
		a.Outcome, a.Stale = NotModified, staleOf(err)
		return a.result
	}
	return a.fail(join(notFirst(err), a.notKept))
}

// notFirst returns the error of a Fetch without a revision, to which a Source
// cannot say that there is nothing newer.
func notFirst(err error) error {
	if errors.Is(err, ErrNotModified) {
		return errors.New("the Source returned ErrNotModified for no revision")
	}
	return err
}

// deltaBase returns the revision that a delta can change now.
func (a *attempt) deltaBase() string {
	if a.whole {
		return ""
	}
	return a.base()
}

// load loads and publishes content.
func (a *attempt) load(content *Content) result {
	if content != nil {
		a.Revision = content.Revision
	}
	if err := content.closeMalformed(); err != nil {
		return a.fail(err)
	}
	if a.base == nil && (content.isDelta() || content.isChain()) {
		content.discard()
		return a.fail(errNoLog)
	}
	a.Base, a.modified = content.Base, inJSON(content.Modified)
	a.Stale, a.ServedBy = join(a.Stale, content.Stale), content.servedBy(a.name)
	content.Source, content.Modified = cmp.Or(content.Source, a.name), a.modified
	content.Accepted = a.accept != "" && content.Revision == a.accept
	a.bodies, a.content = newBodies(a.ctx, content, a.options.MaxBytes)
	defer func() {
		if a.published == 0 {
			a.closeBody(a.ctx, a.bodies)
		}
	}()
	if announced := a.bodies.announced(); announced > a.options.MaxBytes {
		return a.fail(fmt.Errorf("%w (%d): %d bytes are announced", errTooLarge, a.options.MaxBytes, announced))
	}

	a.stage = Publishing
	waiting, cancel := context.WithTimeout(a.ctx, a.options.ObjectWait)
	defer cancel()
	began := time.Now()
	version, err := a.publish(waiting, a)
	a.Load, a.Size = time.Since(began), a.bodies.total.Load()
	switch {
	case version != 0:
		a.Outcome, a.published = Loaded, version
	case errors.Is(err, errUnchanged):
		a.Outcome, err = Unchanged, nil
	default:
		return a.fail(err)
	}
	a.tellSource(err)
	return a.result
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
	if err := a.finish(); err != nil { // load may have refused bytes that the origin never sent
		return withRefusal(err, refusal)
	}
	if refusal != nil {
		a.stage = Loading
		return refusal
	}
	a.stage = Publishing
	if a.SHA256 == a.sum && current != 0 && current == a.version {
		return errUnchanged
	}
	return a.ctx.Err() // it may have ended while load ran
}

// finish reads the rest that load left, and fails unless the content is complete, unchanged
// and verified.
func (a *attempt) finish() error {
	a.stage = Reading
	sums, err := a.bodies.finish()
	if err = cmp.Or(err, a.bodies.failure()); err != nil {
		return err
	}
	sum := digestOf(sums)
	a.SHA256 = hex.EncodeToString(sum[:])
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

// tellSource tells the Source that its content is current, and logs the errors since.
func (a *attempt) tellSource(err error) {
	if a.content.Published != nil {
		err = errors.Join(err, recovered(a.content.Published))
	}
	if err != nil {
		a.options.Logger.LogAttrs(a.ctx, slog.LevelWarn, "reload: published, but", slog.String("source", a.name), slog.Any("error", err))
	}
}

// fail ends the attempt with the error of its stage.
func (a *attempt) fail(err error) result {
	large := a.bodies != nil && (errors.Is(err, errTooLarge) || errors.Is(err, errExpands))
	a.bad = a.stage == Loading && !errors.As(err, new(*retryable))
	if large { // not read to its end, so it may be another content than that of the revision, if that was to be verified
		a.stage, a.bad = Reading, !a.kept && !a.bodies.checked() // the origin may have less than what was kept
	}
	if errors.Is(err, errState) {
		a.stage, a.bad = Verifying, a.bad && !a.kept
	}
	switch {
	case a.ctx.Err() != nil:
		a.ended, a.bad = true, false
	case a.Base != "" && (a.bad || large || a.stage == Verifying || errors.Is(err, errBase)):
		a.unfit, a.bad = true, false
	}
	a.Outcome = Failed
	a.Err = &Error{
		Source: cmp.Or(a.ServedBy, a.name), Revision: a.Revision, Stage: a.stage, Refused: a.bad && a.Revision != "",
		Current: a.setup.version(), Err: err, delta: a.unfit,
	}
	return a.result
}

// closeBody closes the Body of content, which was read: an error of Close is of no use
// then. A panic is a bug of the Source.
func (s *setup) closeBody(ctx context.Context, b *bodies) {
	var panicked *poolswap.HookPanicError
	if err := recovered(b.end); errors.As(err, &panicked) {
		s.options.Logger.LogAttrs(ctx, slog.LevelWarn, "reload: Close of the Body", slog.String("source", s.name), slog.Any("error", err))
	}
}
