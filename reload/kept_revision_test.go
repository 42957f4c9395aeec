package reload_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// What is kept has no revision if its source gives none.
func TestKeptContentWithoutARevisionIsLoadedAfterATemporaryFailure(t *testing.T) {
	t.Parallel()
	dir, fail := t.TempDir(), false
	source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		if fail {
			return nil, errDown
		}
		return &reload.Content{Size: -1, Body: io.NopCloser(strings.NewReader("good"))}, nil
	})
	cacheRestarts(t, source, dir, "good")
	fail = true
	for name, want := range map[string]struct {
		err   error
		loads int
	}{"temporary": {reload.Temporary(errBad), 3}, "bad": {errBad, 1}} {
		c, _ := newTexts()
		loads := 0
		r := reload.New(c, reload.Cache(source, dir), func(context.Context, *text, *text, *reload.Content) error {
			loads++
			return want.err
		}, reload.Options{Logger: quiet})
		for range 3 {
			failsWith(t, r, reload.Fetching)
		}
		if loads != want.loads {
			t.Errorf("%s: %d loads in three attempts, want %d", name, loads, want.loads)
		}
	}
}
