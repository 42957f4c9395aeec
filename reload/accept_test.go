package reload_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestAcceptLoadsAgainWhatWasRefused(t *testing.T) {
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

func TestAcceptOfWhatIsCurrentPublishesNothing(t *testing.T) {
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

func TestAcceptEndsWithItsContext(t *testing.T) {
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
