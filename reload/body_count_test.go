package reload_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// A Body that says that it has read more than it was asked for, or less than
// nothing, is an error, not a panic of Run.
func TestABodyThatCountsWronglyIsAnError(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]func(int) int{
		"too many": func(n int) int { return n + 1 }, "negative": func(int) int { return -1 },
	} {
		for how, read := range map[string]func(context.Context, *text, *text, *reload.Content) error{
			"by load": load, "by the Reloader": func(context.Context, *text, *text, *reload.Content) error { return nil },
		} {
			c, _ := newTexts()
			r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) {
				return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(reading(func(p []byte) (int, error) { return count(len(p)), nil }))}, nil
			}), read, reload.Options{Logger: quiet})
			if failure := failsWith(t, r, reload.Reading); failure.Refused || !strings.Contains(failure.Error(), "invalid count") {
				t.Errorf("%s, read %s: %v", name, how, failure)
			}
		}
	}
}

// A part whose Close panics does not keep the others open.
func TestAJoinClosesEachPart(t *testing.T) {
	t.Parallel()
	closed := 0
	part := func(fails bool) reload.Source {
		return sourceFunc(func(context.Context, string) (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: -1, Body: struct {
				io.Reader
				io.Closer
			}{strings.NewReader("part"), closing(func() error {
				if closed++; fails {
					panic("Close")
				}
				return nil
			})}}, nil
		})
	}
	r, c := joinReloader(reload.Join(part(true), part(false)), loadJoined)
	succeeds(t, r, c, "reload_test.sourceFunc=part reload_test.sourceFunc=part ")
	if closed != 2 {
		t.Errorf("%d of 2 parts were closed", closed)
	}
}
