package reload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestRefusalHoldsUntilRevisionChanges(t *testing.T) {
	t.Parallel()
	var events []reload.Event
	r, c, fake := faked(reload.Options{Observe: func(e reload.Event) { events = append(events, e) }})
	push(fake, "good")
	succeeds(t, r, c, "good")
	push(fake, "bad")
	for range 3 { // not modified after the first
		if failure := failsWith(t, r, reload.Loading); !errors.Is(failure, errBad) || !failure.Refused {
			t.Errorf("the error is %v", failure)
		}
		is(t, c, "good")
	}
	for i, want := range []reload.Outcome{reload.Loaded, reload.Failed, reload.StillRefused, reload.StillRefused} {
		if e := events[i]; e.Outcome != want || errors.Is(e.Err, errBad) != (i > 0) {
			t.Errorf("event %d is %+v, want it %s", i, e, want)
		}
	}
	if fake.Open() != 0 {
		t.Error("a body is open")
	}
	s := r.Status()
	if s.Refused != "2" || s.Revision != "1" || s.State() != "refused" || s.Failures != 1 || s.TotalFailures != 1 || !errors.Is(s.Err, errBad) {
		t.Errorf("the status is %+v", s)
	}
	push(fake, "good again")
	succeeds(t, r, c, "good again")
	if s := r.Status(); s.Refused != "" || s.Failures != 0 {
		t.Errorf("the status is %+v", s)
	}
}

func TestRefusalEndsWithNewerContent(t *testing.T) {
	t.Parallel()
	r, _, fake := refusing(t)
	push(fake, "newer content")
	fake.Truncate(3, nil)
	failsWith(t, r, reload.Reading)
	if s := r.Status(); s.Refused != "" || s.State() != "stale" || s.Failures != 2 {
		t.Errorf("the status is %+v", s)
	}
}

// The failure in between is over once the source has answered that the refused
// revision is still the newest.
func TestStatusKeepsRefusal(t *testing.T) {
	t.Parallel()
	r, _, fake := refusing(t)
	refused := headlineOf(t, r)
	fake.Fail(errors.New("connection lost"))
	failsWith(t, r, reload.Fetching)
	fake.Fail(nil)
	failsWith(t, r, reload.Loading) // not modified
	if s := r.Status(); !errors.Is(s.Err, errBad) || s.State() != "refused" || s.TotalFailures != 2 {
		t.Errorf("the error is %v, the state %s after %d failures", s.Err, s.State(), s.TotalFailures)
	}
	if now := headlineOf(t, r); now != refused || !strings.Contains(pageOf(t, r), "connection lost") {
		t.Errorf("the headline is %q, and was %q", now, refused)
	}
}

// A refusal is over when the source has the loaded bytes again.
func TestRefusalEndsWithRestoredContent(t *testing.T) {
	t.Parallel()
	r, c, fake := refusing(t)
	push(fake, "good")
	succeeds(t, r, c, "good") // unchanged
	succeeds(t, r, c, "good") // not modified
	if s := r.Status(); s.Refused != "" || s.Failures != 0 || s.Revision != "3" {
		t.Errorf("the status is %+v", s)
	}
}

// A failure of Verify refuses nothing, even if the same wrong bytes come again: the
// origin has other bytes under that revision.
func TestVerifyRepeatsTransfers(t *testing.T) {
	t.Parallel()
	bodies, fetches := []string{"wrong 1", "wrong 2", "wrong 2", "right"}, 0
	c, _ := newTexts()
	r := reload.New(c, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if have == "1" {
			return nil, reload.ErrNotModified
		}
		text := []byte(bodies[fetches])
		fetches++
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(bytes.NewReader(text)), Verify: func(sum [32]byte) error {
			if sum != sumOf("right") {
				return errors.New("wrong digest")
			}
			return nil
		}}, nil
	}), load, reload.Options{Logger: quiet})
	for range 3 {
		if failure := failsWith(t, r, reload.Verifying); failure.Refused {
			t.Fatalf("after %d transfers: %v", fetches, failure)
		}
	}
	succeeds(t, r, c, "right")
}

func TestTemporaryRefusesNothing(t *testing.T) {
	t.Parallel()
	_, _, fake := faked(reload.Options{})
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		if loads++; loads < 3 {
			return reload.Retryable(errDown)
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(fake, "content")
	for range 2 {
		if failure := failsWith(t, r, reload.Loading); failure.Refused || !errors.Is(failure, errDown) {
			t.Errorf("the error is %v", failure)
		}
	}
	succeeds(t, r, c, "content")
	if reload.Retryable(nil) != nil {
		t.Error("Retryable(nil) is an error")
	}
}

func TestAccept(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(t *testing.T, source reload.Source) reload.Source{
		"a plain source": func(_ *testing.T, source reload.Source) reload.Source { return source },
		"a cache":        func(t *testing.T, source reload.Source) reload.Source { return reload.Cache(source, t.TempDir()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := newTexts()
			fake := new(reloadtest.Fake)
			r := reload.New(c, wrap(t, fake), func(_ context.Context, next, _ *text, content *reload.Content) error {
				next.value = make([]byte, content.Size)
				if _, err := content.Body.Read(next.value); err != nil {
					return err
				}
				if !content.Accepted && len(next.value) < 4 {
					return errBad
				}
				return nil
			}, reload.Options{Logger: quiet})
			push(fake, "long")
			succeeds(t, r, c, "long")
			push(fake, "one")
			failsWith(t, r, reload.Loading)
			for _, call := range []func() error{
				func() error { return r.Reload(t.Context()) },
				func() error { return r.Accept(t.Context(), "1") }, // another revision
			} {
				if err := call(); !errors.Is(err, errBad) {
					t.Errorf("the refusal is not repeated: %v", err)
				}
				is(t, c, "long")
			}
			if err := r.Accept(t.Context(), r.Status().Refused); err != nil {
				t.Fatal(err)
			}
			is(t, c, "one")
			if s := r.Status(); s.Refused != "" || s.Failures != 0 || s.Version != 2 {
				t.Errorf("the status is %+v", s)
			}
		})
	}
}

func TestAcceptOfCurrentContent(t *testing.T) {
	t.Parallel()
	var outcomes []reload.Outcome
	r, c, fake := faked(reload.Options{Observe: func(e reload.Event) { outcomes = append(outcomes, e.Outcome) }})
	push(fake, "content")
	for range 2 {
		if err := r.Accept(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(outcomes) != "[loaded unchanged]" || c.Version() != 1 {
		t.Errorf("the outcomes are %q, the version %d", outcomes, c.Version())
	}
	succeeds(t, r, c, "content")
	if outcomes[2] != reload.NotModified {
		t.Errorf("after Accept, Reload ends with %q", outcomes[2])
	}
}

func TestAcceptContext(t *testing.T) {
	t.Parallel()
	r, _, fake := faked(reload.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Accept(ctx, "1"); !errors.Is(err, context.Canceled) || fake.Fetches() != 0 {
		t.Errorf("Accept returned %v after %d fetches", err, fake.Fetches())
	}
	defer func() {
		if got := recover(); got != "reload: Accept with a nil Context" {
			t.Errorf("the panic is %v", got)
		}
	}()
	r.Accept(nil, "1") //nolint:staticcheck // it panics
}

// Accept may refuse the loaded content, which stays, and is still the newest.
func TestAcceptRefusesCurrentContent(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	fake, strict := new(reloadtest.Fake), false
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		if strict {
			return errBad
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(fake, "good")
	succeeds(t, r, c, "good")
	strict = true
	if err := r.Accept(t.Context(), "1"); !errors.Is(err, errBad) {
		t.Fatalf("Accept returned %v", err)
	}
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Failures != 0 || s.Refused != "" {
		t.Errorf("the status is %+v", s)
	}
}

// Accept returns the error of its revision, though kept content was loaded.
func TestAcceptIgnoresKeptContent(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "bad")
	r, c := start(fake, dir, reload.Options{})
	if err := r.Accept(t.Context(), "2"); !errors.Is(err, errBad) {
		t.Errorf("Accept returned %v", err)
	}
	is(t, c, "good")
}

// An operator can accept the refused revision again after a failure.
func TestAcceptFailureKeepsRefusal(t *testing.T) {
	t.Parallel()
	short := errors.New("out of memory")
	var fails error
	c, _ := newTexts()
	revision := "1"
	r := reload.New(c, sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if have == revision {
			return nil, reload.ErrNotModified
		}
		return &reload.Content{Revision: revision, Size: -1, Body: io.NopCloser(strings.NewReader(revision))}, nil
	}), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if current != nil && !content.Accepted {
			return errBad
		}
		return errors.Join(fails, load(ctx, next, current, content))
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "1")
	revision = "2"
	failsWith(t, r, reload.Loading)
	fails = reload.Retryable(short)
	if err := r.Accept(t.Context(), r.Status().Refused); !errors.Is(err, short) {
		t.Errorf("Accept returned %v", err)
	}
	if s := r.Status(); s.Refused != "2" || s.State() != "refused" {
		t.Errorf("%q is refused, the state is %s", s.Refused, s.State())
	}
	fails = nil
	if err := r.Accept(t.Context(), r.Status().Refused); err != nil {
		t.Errorf("the second Accept returned %v", err)
	}
	is(t, c, "2")
}

// TestAcceptOfNoRevision accepts nothing: an operator saw no refused content.
func TestAcceptOfNoRevision(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	r := reload.New(c, given("", -1, "content"), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if content.Accepted {
			t.Error("content without a revision is accepted")
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	if err := r.Accept(t.Context(), r.Status().Refused); err != nil {
		t.Error(err)
	}
}
