package reload_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// Accept answers for what it was asked, not for what was kept.
func TestAcceptAnswersForItsRevision(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "bad")
	r, c := start(fake, dir, reload.Options{})
	if err := r.Accept(t.Context(), "2"); !errors.Is(err, errBad) {
		t.Errorf("Accept returned %v", err)
	}
	is(t, c, "good")
}

// A failure to accept leaves what was refused where an operator can accept it.
func TestAnAcceptThatFailsLeavesWhatIsRefused(t *testing.T) {
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
	fails = reload.Temporary(short)
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
