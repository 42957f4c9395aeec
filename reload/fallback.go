package reload

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fallback returns a Source that has the content of the first of sources that answers:
// an origin, a mirror, an embedded file. They are asked in their order at each attempt,
// so an earlier one serves again as soon as it answers, and then its content replaces
// that of a later one, even if it is older.
//
// The other way round, content of a later source replaces that of an earlier one only
// if its Content.Modified is later: while an origin is down, neither a mirror that lags
// nor an embedded file takes the place of newer content. Until then the attempt fails,
// and the loaded content stays. A Reloader that has loaded nothing takes any.
//
// While a later source serves, Status.ServedBy has its name, Status.Stale the errors of
// those before it, and Status.Age goes on. A source has answered once its Fetch returns
// content, also if that breaks off, fails to verify, or is refused: with a [Cache]
// around it, the content must be whole, and must verify.
//
// A Cache goes around each of the sources, not around the Fallback: Fallback(Cache(a,
// dirA), Cache(b, dirB), c). Of their kept content, a Reloader loads that of the first,
// or of a later one whose Modified is later and which was known to be the newest later.
// Hints come from the source that serves. Fallback panics without a source, or with a
// nil one.
func Fallback(sources ...Source) Source {
	refuseNone(sources, "Fallback")
	return &fallbackSource{slices.Clone(sources)}
}

// fallbackSource has revisions of its sources, each behind the number of the source.
type fallbackSource struct{ sources []Source }

// place is the content of a Fallback that a Reloader has loaded. It does not change,
// but for older.
type place struct {
	index    int       // of the source that served it
	modified time.Time // zero if that is unknown
	older    []string  // revisions of the sources that are not known to be newer; of the attempt that has the turn
}

var errNotNewer = errors.New("its content is not known to be newer than the loaded content")

// String returns the names of the sources.
func (f *fallbackSource) String() string {
	names := make([]string, len(f.sources))
	for i, source := range f.sources {
		names[i] = nameOf(source)
	}
	return strings.Join(names, " or ")
}

// Identity implements Identifier.
func (f *fallbackSource) Identity() string { return "first of " + identities(f.sources) }

// Fetch implements Source.
func (f *fallbackSource) Fetch(ctx context.Context, have string) (*Content, error) {
	index, revision := f.cut(have)
	loaded := f.loaded(ctx, index)
	deltaIndex, base := f.cut(DeltaBase(ctx))
	var failed failures
	for i, source := range f.sources {
		known := ""
		switch {
		case i == index:
			known = revision
		case i > loaded.index:
			known = loaded.older[i]
		}
		from := ""
		if i == deltaIndex {
			from = base
		}
		content, err := fetch(withDeltaBase(ctx, from), source, known)
		switch {
		case ctx.Err() != nil:
			content.discard()
			return nil, ctx.Err()
		case errors.Is(err, ErrNotModified) && i == index:
			return nil, notModified(join(failed.asError(), staleOf(err)))
		case errors.Is(err, ErrNotModified):
			err = errNotNewer
		case err == nil && i > loaded.index && !content.newerThan(loaded.modified):
			loaded.older[i] = content.Revision
			content.discard()
			err = errNotNewer
		case err == nil:
			content.Stale = join(failed.asError(), content.Stale)
			return f.serve(ctx, i, content), nil
		}
		failed = append(failed, errorOf(source, err))
	}
	return nil, failed
}

// fetch is Fetch of a source. Its panics and mistakes are errors, too, and so is content
// in a Cache that does not verify.
func fetch(ctx context.Context, source Source, have string) (content *Content, err error) {
	err = recovered(func() (err error) {
		content, err = source.Fetch(ctx, have)
		return err
	})
	if err == nil {
		err = content.closeMalformed()
	}
	if err == nil {
		if err = content.verifyFirst(); err != nil {
			content.discard()
		}
	}
	if err != nil {
		content = nil
		if have == "" {
			err = notFirst(err)
		}
	}
	return content, err
}

// loaded returns the content that is loaded. If that is none, each source is as good as
// the last.
func (f *fallbackSource) loaded(ctx context.Context, index int) *place {
	unknown := &place{index: max(index, 0), older: make([]string, len(f.sources))}
	r := reloaderOf(ctx)
	if r == nil {
		if index < 0 {
			unknown.index = len(f.sources)
		}
		return unknown
	}
	if known, ok := r.places.Load(f); ok {
		return known.(*place)
	}
	if r.Status().Version == 0 {
		unknown.index = len(f.sources)
		return unknown
	}
	r.places.Store(f, unknown) // restored by a Cache around this
	return unknown
}

// serve makes content of a source that of the Fallback.
func (f *fallbackSource) serve(ctx context.Context, index int, content *Content) *Content {
	if content.Source == "" {
		content.Source = nameOf(f.sources[index])
	}
	if content.Revision != "" {
		content.Revision = strconv.Itoa(index) + " " + content.Revision
	}
	if content.Base != "" {
		content.Base = strconv.Itoa(index) + " " + content.Base
	}
	r, published := reloaderOf(ctx), content.Published
	if r == nil {
		return content
	}
	modified := content.Modified
	content.Published = func() error {
		r.places.Store(f, &place{index, modified, make([]string, len(f.sources))})
		if published == nil {
			return nil
		}
		return published()
	}
	return content
}

// cut takes a revision apart. Without a source that has it, the index is negative.
func (f *fallbackSource) cut(revision string) (index int, inner string) {
	number, inner, _ := strings.Cut(revision, " ")
	index, err := strconv.Atoi(number)
	if err != nil || inner == "" || index >= len(f.sources) || strconv.Itoa(index) != number {
		return -1, ""
	}
	return index, inner
}

// newerThan reports whether content is known to be newer than that of a time.
func (c *Content) newerThan(modified time.Time) bool {
	return !modified.IsZero() && c.Modified.After(modified)
}

// discard closes the Body of content that is not used, if there is any.
func (c *Content) discard() {
	if c != nil {
		recovered(c.Body.Close) //nolint:errcheck // there is no more to do
	}
}

// Wait implements Waiter.
func (f *fallbackSource) Wait(ctx context.Context, have string) error {
	if index, inner := f.cut(have); index >= 0 {
		return waitFor(ctx, f.sources[index], inner)
	}
	if r := reloaderOf(ctx); r != nil && r.Status().Version != 0 { // without a revision, each Wait could return at once
		<-ctx.Done()
		return ctx.Err()
	}
	return waitForAny(ctx, f.sources, nil)
}

// Restore implements Restorer.
func (f *fallbackSource) Restore(ctx context.Context) (newest *Content, checked time.Time, err error) {
	var failed failures
	for i, source := range f.sources {
		var content *Content
		var at time.Time
		err := recovered(func() (err error) {
			content, at, err = restore(ctx, source)
			return err
		})
		if err == nil && content != nil {
			err = content.closeMalformed()
		}
		switch {
		case err != nil:
			failed = append(failed, errorOf(source, err))
		case content == nil:
		case newest != nil && !(at.After(checked) && content.newerThan(newest.Modified)): // as in Fetch
			content.discard()
		default:
			newest.discard()
			newest, checked = f.serve(ctx, i, content), at
		}
	}
	if newest == nil {
		return nil, time.Time{}, failed.asError()
	}
	newest.Stale = join(newest.Stale, failed.asError())
	return newest, checked, nil
}
