package reload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Join returns a Source of sources whose content belongs together and is loaded
// into one object: users and their roles, a table and its index. Content.Parts has
// the content of each, in their order. When one of them has something newer, all
// are fetched. One that fails makes the attempt fail.
//
// Two files are seldom replaced in the same moment. load may see a new one beside
// an old one, and should return an error if they do not belong together. That
// refuses them until either changes, which is when the other arrives.
//
// All bodies are open while load reads the first: a server that loses patience
// needs a [Cache] around its source. Options of one source, such as a Cache or
// [VerifySHA256], go around that source, not around the Join. A Join is a [Restorer] if
// all of its sources are. The kept parts can be of different releases, if the
// process died while it published, so load's check is needed then, too.
//
// The name of a Join is the names of its sources, with commas. Join panics without a
// source, or with a nil one.
func Join(sources ...Source) Source {
	refuseNone(sources, "Join")
	j := &joinSource{sources: slices.Clone(sources)}
	for _, source := range sources {
		if _, ok := source.(Restorer); !ok {
			return j
		}
	}
	return &restorerJoin{j}
}

// refuseNone panics if op has no sources, or a nil one.
func refuseNone(sources []Source, op string) {
	if len(sources) == 0 {
		panic("reload: " + op + " without a Source")
	}
	if slices.Contains(sources, nil) {
		panic("reload: " + op + " with a nil Source")
	}
}

type joinSource struct {
	sources []Source

	mu        sync.Mutex // guards the fields below
	revision  string     // of the content that was fetched last
	revisions []string   // of its parts; never modified
}

// refuseJoin panics if source is a Join, which wrapper is to wrap.
func refuseJoin(source Source, wrapper, instead string) {
	switch source.(type) {
	case *joinSource, *restorerJoin:
		panic(fmt.Sprintf("reload: %s of a Join: put it around the sources of the Join, as in %s", wrapper, instead))
	}
}

// String returns the names of the sources.
func (j *joinSource) String() string {
	names := make([]string, len(j.sources))
	for i, source := range j.sources {
		names[i] = nameOf(source)
	}
	return strings.Join(names, ", ")
}

// Identity implements Identifier.
func (j *joinSource) Identity() string { return identities(j.sources) }

// identities returns a text that is unique for sources.
func identities(sources []Source) string {
	all := make([]string, len(sources))
	for i, source := range sources {
		all[i] = identityOf(source)
	}
	return fmt.Sprintf("%q", all)
}

// Fetch implements Source. It allocates nothing if there is nothing newer.
func (j *joinSource) Fetch(ctx context.Context, have string) (*Content, error) {
	ctx = withDeltaBase(ctx, "") // one part cannot change alone
	var revisions []string
	if have != "" {
		revisions = j.split(have)
	}
	var stale error
	for i, source := range j.sources {
		content, err := source.Fetch(ctx, revisionAt(revisions, i))
		switch {
		case err == nil:
			return j.fetchOthers(ctx, i, content)
		case !errors.Is(err, ErrNotModified):
			return nil, errorOf(source, err)
		}
		stale = join(stale, staleOf(err))
	}
	return nil, notModified(stale)
}

// errorOf returns an error that says which source it is of. Those of a Fallback say so.
func errorOf(source Source, err error) error {
	if nameSources(err) {
		return err
	}
	return fmt.Errorf("%s: %w", nameOf(source), err)
}

// fetchOthers joins the newer content of one source with that of the others.
func (j *joinSource) fetchOthers(ctx context.Context, newer int, content *Content) (*Content, error) {
	parts := make(partsBody, len(j.sources))
	parts[newer] = content
	return j.join(parts, func(source Source) (*Content, error) {
		content, err := source.Fetch(ctx, "")
		return content, notFirst(err)
	})
}

// join joins parts. get returns the content of a source that has no part yet. If it
// fails or panics, join closes all parts.
func (j *joinSource) join(parts partsBody, get func(Source) (*Content, error)) (_ *Content, err error) {
	complete := false
	defer func() {
		if !complete {
			parts.Close()
		}
	}()
	all := new(Content)
	revisions := make([]string, len(j.sources))
	for i, source := range j.sources {
		if parts[i] == nil {
			if parts[i], err = get(source); err != nil {
				return nil, errorOf(source, err)
			}
		}
		part := parts[i]
		if err := part.malformed(); err != nil {
			return nil, errorOf(source, err)
		}
		if part.isDelta() || part.isChain() {
			return nil, errorOf(source, errors.New("a delta, which a Join has no use for"))
		}
		part.Source = cmp.Or(part.Source, nameOf(source))
		revisions[i] = part.Revision
		all.addPart(part)
	}
	complete = true
	all.Revision, all.Body = j.joint(revisions), parts.body()
	all.Published = parts.published
	return all, nil
}

func (c *Content) addPart(part *Content) {
	switch {
	case c.Size < 0 || part.Size < 0:
		c.Size = -1
	default:
		c.Size += min(part.Size, math.MaxInt64-c.Size)
	}
	if part.Modified.After(c.Modified) {
		c.Modified = part.Modified
	}
	c.Stale = join(c.Stale, part.Stale)
	c.Parts = append(c.Parts, part)
}

// joint returns the revision that is made of revisions, or "" if one of them is,
// and remembers it. Each is escaped, so that it has no space, and a space is
// between two.
func (j *joinSource) joint(revisions []string) (revision string) {
	if !slices.Contains(revisions, "") {
		escaped := make([]string, len(revisions))
		for i, one := range revisions {
			escaped[i] = url.PathEscape(one)
		}
		revision = strings.Join(escaped, " ")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.revision, j.revisions = revision, revisions
	return revision
}

// split returns the revisions that a revision is made of, or nil if it was made by
// another Source. For "" it returns the revisions of the content that was fetched
// last, if one of them is "", too.
func (j *joinSource) split(revision string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if revision == j.revision {
		return j.revisions
	}
	revisions := strings.Split(revision, " ")
	if len(revisions) != len(j.sources) {
		return nil
	}
	for i, escaped := range revisions {
		var err error
		if revisions[i], err = url.PathUnescape(escaped); err != nil {
			return nil
		}
	}
	j.revision, j.revisions = revision, revisions
	return revisions
}

// revisionAt returns one of the revisions that split returned.
func revisionAt(revisions []string, i int) string {
	if revisions == nil {
		return ""
	}
	return revisions[i]
}

// Wait implements Waiter.
func (j *joinSource) Wait(ctx context.Context, have string) error {
	return waitForAny(ctx, j.sources, j.split(have))
}

// waitForAny returns with the first source whose Wait does.
func waitForAny(ctx context.Context, sources []Source, revisions []string) error {
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	said := make(chan error, len(sources))
	for i, source := range sources {
		waiting.Go(func() {
			err := recovered(func() error { return waitFor(ctx, source, revisionAt(revisions, i)) })
			if err != nil {
				err = errorOf(source, err)
			}
			said <- err
		})
	}
	return <-said
}

// restorerJoin is a Join of Restorers.
type restorerJoin struct{ *joinSource }

// Restore implements Restorer. It returns nil unless each source has kept something.
func (k *restorerJoin) Restore(ctx context.Context) (*Content, time.Time, error) {
	var oldest time.Time
	first := true
	content, err := k.join(make(partsBody, len(k.sources)), func(source Source) (*Content, error) {
		part, checked, err := source.(Restorer).Restore(ctx)
		if err == nil && part == nil {
			err = errNothingKept
		}
		if first || checked.Before(oldest) {
			oldest, first = checked, false
		}
		return part, err
	})
	switch {
	case errors.Is(err, errNothingKept):
		return nil, time.Time{}, nil
	case err != nil:
		return nil, time.Time{}, err
	}
	return content, oldest, nil
}

var errNothingKept = errors.New("nothing is kept")

// partsBody is the contents that a Join has fetched.
type partsBody []*Content

// Close closes the Body of each content, even if one panics.
func (p partsBody) Close() (err error) {
	for _, part := range p {
		if part != nil && part.Body != nil {
			err = errors.Join(err, recovered(part.Body.Close))
		}
	}
	return err
}

// body returns a Body of all of them.
func (p partsBody) body() io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{readerOf(p), p}
}

// published is Published of all of them.
func (p partsBody) published() (err error) {
	for _, part := range p {
		if part.Published != nil {
			err = errors.Join(err, recovered(part.Published))
		}
	}
	return err
}
