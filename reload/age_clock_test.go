package reload_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// A record of the future was made by a clock that was wrong.
func TestNoAgeIsNegative(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(1000*time.Hour))
	fake.Fail(errDown)
	r, _ := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() < 0 || s.Checked.After(time.Now()) {
		t.Errorf("the age is %v, checked at %v", s.Age(), s.Checked)
	}
}

// The status is read as soon as there is something: its age is never that of the
// year 1.
func TestTheAgeIsKnownWhenPublishedContentIs(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"fetched": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *reload.Reloader
			closed := false
			source := keeperOf{kept, closing(func() error {
				if s := r.Status(); s.Version != 1 || s.Age() > time.Hour {
					t.Errorf("the age of version %d is %v", s.Version, s.Age())
				}
				closed = true
				return nil
			})}
			c, _ := newTexts()
			r = reload.New(c, source, load, reload.Options{Logger: quiet})
			succeeds(t, r, c, "good")
			if !closed {
				t.Error("the content was not closed")
			}
		})
	}
}

// keeperOf keeps content, or fetches it, and tells when it is closed.
type keeperOf struct {
	keeps bool
	io.Closer
}

func (k keeperOf) content() *reload.Content {
	return &reload.Content{Revision: "1", Size: -1, Body: struct {
		io.Reader
		io.Closer
	}{strings.NewReader("good"), k.Closer}}
}

func (k keeperOf) Fetch(_ context.Context, have string) (*reload.Content, error) {
	if have == "1" {
		return nil, reload.ErrNotModified
	}
	return k.content(), nil
}

func (k keeperOf) Kept(context.Context) (*reload.Content, time.Time, error) {
	if !k.keeps {
		return nil, time.Time{}, nil
	}
	return k.content(), time.Now(), nil
}
