package reload_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// closer panics when it is closed.
type closer struct{ io.Reader }

func (closer) Close() error { panic("nil map") }

func TestAPanicOfCloseIsLogged(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	var lines logs
	r := reload.New(c, panicky(func() *reload.Content {
		return &reload.Content{Revision: "1", Size: -1, Body: closer{strings.NewReader("first")}}
	}), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	succeeds(t, r, c, "first")
	if all := lines.all(); len(all) != 1 || !strings.Contains(all[0], "Close of the Body") || !strings.Contains(all[0], "panic: nil map") {
		t.Errorf("the log is %q", all)
	}
	succeeds(t, r, c, "good")
}

func TestContentWithoutABodyIsAnError(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	r := reload.New(c, panicky(func() *reload.Content { return &reload.Content{Revision: "bad", Size: -1} }), load, reload.Options{Logger: quiet})
	failure := failsWith(t, r, reload.Fetching)
	if got := failure.Err.Error(); got != "the Source returned content without a Body" || failure.Refused {
		t.Errorf("the error is %v", failure)
	}
	succeeds(t, r, c, "good")
}
