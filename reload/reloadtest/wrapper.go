package reloadtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// TestWrapper tests a Source that wraps another one: that it passes on all that the
// other can do, and all that its Content has. wrap returns a new one around source, and
// is called a few times for each subtest. content is that of the source: any that wrap
// can read. A [reload.Wrapper] without methods of its own passes. [TestSource] tests the
// rest.
func TestWrapper(t *testing.T, content []byte, wrap func(t *testing.T, source reload.Source) reload.Source) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *wrapped)
	}{
		{"the name is passed on", passesName},
		{"the identity is passed on", passesIdentity},
		{"Wait is passed on", passesWait},
		{"Restore is passed on", passesRestore},
		{"the limit of bytes is passed on", passesLimit},
		{"an error is passed on", passesError},
		{"Verify is passed on", passesVerify},
		{"Changed is passed on", passesChanged},
		{"Published is passed on", passesPublished},
		{"Modified is passed on", passesModified},
		{"each Body is closed", closesBodies},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &wrapped{wrap: wrap, capable: capable{Fake: new(Fake), name: "wrapped source", identity: "wrapped source?key=1"}}
			w.Push(content)
			w.source = wrap(t, &w.capable)
			test.run(t, w)
		})
	}
}

// wrapped is a Source and its wrapper.
type wrapped struct {
	capable
	source reload.Source // the wrapper
	wrap   func(*testing.T, reload.Source) reload.Source
}

// capable is a Source that can do everything.
type capable struct {
	*Fake
	name, identity string
	waits          string // the revision that Wait was given last
	hint           error
	kept           bool
	checked        time.Time
	fill           func(ctx context.Context, content *reload.Content) error // completes each content
}

// String returns its name.
func (c *capable) String() string { return c.name }

// Identity implements reload.Identifier.
func (c *capable) Identity() string { return c.identity }

// Wait implements reload.Waiter. It returns at once.
func (c *capable) Wait(_ context.Context, have string) error {
	c.waits = have
	return c.hint
}

// Fetch implements reload.Source.
func (c *capable) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := c.Fake.Fetch(ctx, have)
	if err == nil && c.fill != nil {
		err = c.fill(ctx, content)
	}
	return content, err
}

// Restore implements reload.Restorer.
func (c *capable) Restore(ctx context.Context) (*reload.Content, time.Time, error) {
	if !c.kept {
		return nil, time.Time{}, c.hint
	}
	content, err := c.Fetch(ctx, "")
	return content, c.checked, err
}

// attempt makes an attempt with the wrapper.
func (w *wrapped) attempt(t *testing.T, options reload.Options) (*reload.Reloader, error) {
	t.Helper()
	options.Logger = slog.New(slog.DiscardHandler)
	objects := poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return new(object) }, nil))
	r := reload.New(objects, w.source, func(context.Context, *object, *object, *reload.Content) error { return nil }, options)
	return r, r.Reload(t.Context())
}

// object is the object of these Reloaders.
type object struct{ poolswap.Ref }

func passesName(t *testing.T, w *wrapped) {
	if name, ok := w.source.(fmt.Stringer); !ok || !strings.Contains(name.String(), w.name) {
		t.Errorf("String of the wrapper, if it has one, does not have the name of the source, %q", w.name)
	}
}

func passesIdentity(t *testing.T, w *wrapped) {
	identity := func(of string) string {
		source := w.wrap(t, &capable{Fake: w.Fake, name: w.name, identity: of})
		identifier, ok := source.(reload.Identifier)
		if !ok {
			t.Fatal("the wrapper is no reload.Identifier")
		}
		if name, ok := source.(fmt.Stringer); ok && strings.Contains(name.String(), of) {
			t.Errorf("the name %q shows the identity", name)
		}
		return identifier.Identity()
	}
	if identity("one of them") == identity("another one") {
		t.Error("two sources of one name have the same identity")
	}
	if one, again := identity("one of them"), identity("one of them"); one != again {
		t.Errorf("the identity of a source is %q, and then %q: a Cache would lose its content", one, again)
	}
}

func passesWait(t *testing.T, w *wrapped) {
	waiter, ok := w.source.(reload.Waiter)
	if !ok {
		t.Fatal("the wrapper is no reload.Waiter")
	}
	have, _ := fetch(t, w.source, "")
	if err := waiter.Wait(t.Context(), have); err != nil {
		t.Errorf("Wait of the source returned nil, and that of the wrapper %v", err)
	}
	if w.waits != "1" {
		t.Errorf("Wait(%q) of the wrapper waits for something newer than %q, not than the source's own revision", have, w.waits)
	}
	w.hint = errors.New("cannot tell")
	if err := waiter.Wait(t.Context(), have); !errors.Is(err, w.hint) {
		t.Errorf("Wait of the source returned %q, and that of the wrapper %v", w.hint, err)
	}
}

func passesRestore(t *testing.T, w *wrapped) {
	restorer, ok := w.source.(reload.Restorer)
	if !ok {
		t.Fatal("the wrapper is no reload.Restorer")
	}
	if content, _, err := restorer.Restore(t.Context()); content != nil || err != nil {
		t.Fatalf("while nothing is kept, Restore returns %v and %v", content, err)
	}
	w.hint = errors.New("damaged")
	if _, _, err := restorer.Restore(t.Context()); !errors.Is(err, w.hint) {
		t.Errorf("Restore of the source returned %q, and that of the wrapper %v", w.hint, err)
	}
	_, want := fetch(t, w.source, "")
	w.kept, w.checked = true, time.Unix(1_700_000_000, 0)
	content, checked, err := restorer.Restore(t.Context())
	if err != nil || content == nil {
		t.Fatalf("content is kept, and Restore returns %v and %v", content, err)
	}
	text, err := io.ReadAll(content.Body)
	if err != nil || !bytes.Equal(text, want) {
		t.Errorf("Restore returned %d bytes, %.40q (%v), and Fetch %d, %.40q", len(text), text, err, len(want), want)
	}
	if content.Size != -1 && content.Size != int64(len(text)) {
		t.Errorf("Restore returned a Size of %d, and the Body has %d bytes", content.Size, len(text))
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
	if !checked.Equal(w.checked) {
		t.Errorf("the content was last known to be the newest at %v, and Restore says %v", w.checked, checked)
	}
	if _, err := w.source.Fetch(t.Context(), content.Revision); !errors.Is(err, reload.ErrNotModified) {
		t.Errorf("Fetch with the restored revision, %q, returned %v, want ErrNotModified", content.Revision, err)
	}
}

func passesLimit(t *testing.T, w *wrapped) {
	var seen []int64
	w.fill = func(ctx context.Context, _ *reload.Content) error {
		seen = append(seen, reload.MaxBytes(ctx))
		return nil
	}
	const limit = 1<<30 + 1
	for _, w.kept = range []bool{true, false} {
		if _, err := w.attempt(t, reload.Options{MaxBytes: limit}); err != nil {
			t.Error(err)
		}
	}
	if len(seen) == 0 {
		t.Error("the source was not asked")
	}
	for _, got := range seen {
		if got != limit {
			t.Errorf("reload.MaxBytes(ctx) is %d in the source, want the Reloader's %d: the wrapper passes another ctx", got, limit)
		}
	}
}

// busy is an error with a Retry-After.
type busy struct{}

func (busy) Error() string { return "busy" }

func (busy) RetryAfter() time.Duration { return 42 * time.Second }

func passesError(t *testing.T, w *wrapped) {
	w.Fail(busy{})
	_, err := w.source.Fetch(t.Context(), "")
	var asks interface{ RetryAfter() time.Duration }
	if !errors.Is(err, busy{}) || !errors.As(err, &asks) || asks.RetryAfter() != 42*time.Second {
		t.Errorf("the error of the source has a RetryAfter, and that of the wrapper is %v", err)
	}
}

func passesVerify(t *testing.T, w *wrapped) {
	forged := errors.New("forged")
	w.fill = func(_ context.Context, content *reload.Content) error {
		content.Verify = func([sha256.Size]byte) error { return forged }
		return nil
	}
	if _, err := w.attempt(t, reload.Options{}); !errors.Is(err, forged) {
		t.Errorf("Verify of the source's content fails, and the attempt ends with %v", err)
	}
}

func passesChanged(t *testing.T, w *wrapped) {
	changed := false
	w.fill = func(_ context.Context, content *reload.Content) error {
		content.Changed = func() error {
			if changed {
				return nil
			}
			changed = true
			return reload.ErrChanged
		}
		return nil
	}
	if _, err := w.attempt(t, reload.Options{}); err != nil || !changed {
		t.Errorf("the source's content changed, which was asked: %t; the attempt ends with %v", changed, err)
	}
}

func passesPublished(t *testing.T, w *wrapped) {
	published := 0
	w.fill = func(_ context.Context, content *reload.Content) error {
		content.Published = func() error { published++; return nil }
		return nil
	}
	if _, err := w.attempt(t, reload.Options{}); err != nil || published != 1 {
		t.Errorf("content was published (%v), and Published of the source's content was called %d times", err, published)
	}
}

func passesModified(t *testing.T, w *wrapped) {
	modified := time.Unix(1_700_000_000, 0)
	w.fill = func(_ context.Context, content *reload.Content) error {
		content.Modified = modified
		return nil
	}
	r, err := w.attempt(t, reload.Options{})
	if got := r.Status().Modified; err != nil || !got.Equal(modified) {
		t.Errorf("the content was made at %v, and the status says %v (%v)", modified, got, err)
	}
}

func closesBodies(t *testing.T, w *wrapped) {
	for _, fails := range []bool{false, true} {
		w.fill = func(_ context.Context, content *reload.Content) error {
			content.Verify = func([sha256.Size]byte) error {
				if fails {
					return errors.New("forged")
				}
				return nil
			}
			return nil
		}
		w.attempt(t, reload.Options{}) //nolint:errcheck // other subtests look at it
		if n := w.Open(); n != 0 {
			t.Errorf("%d bodies of the source are open after an attempt", n)
		}
	}
}
