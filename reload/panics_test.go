package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// panicReader panics at each Read.
type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("nil map") }

// panicky returns good content after the first Fetch, which has what breaks.
func panicky(breaks func() *reload.Content) reload.Source {
	fetches := 0
	return sourceFunc(func(context.Context, string) (*reload.Content, error) {
		if fetches++; fetches == 1 {
			return breaks(), nil
		}
		return &reload.Content{Revision: "good", Size: -1, Body: io.NopCloser(strings.NewReader("good"))}, nil
	})
}

func TestAPanicOfASourceIsAnErrorOfItsStage(t *testing.T) {
	t.Parallel()
	body := func(r io.Reader) *reload.Content {
		return &reload.Content{Revision: "bad", Size: -1, Body: io.NopCloser(r)}
	}
	for name, test := range map[string]struct {
		breaks func() *reload.Content
		stage  reload.Stage
	}{
		"Fetch":            {func() *reload.Content { panic("nil map") }, reload.Fetching},
		"Read within load": {func() *reload.Content { return body(panicReader{}) }, reload.Reading},
		"Read within load (2)": {func() *reload.Content {
			return body(io.MultiReader(iotest.OneByteReader(strings.NewReader("abc")), panicReader{}))
		}, reload.Reading},
		"Verify": {func() *reload.Content {
			content := body(strings.NewReader("abc"))
			content.Verify = func([sha256.Size]byte) error { panic("nil map") }
			return content
		}, reload.Verifying},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := newTexts()
			r := reload.New(c, panicky(test.breaks), load, reload.Options{Logger: quiet})
			failure := failsWith(t, r, test.stage)
			var panicked *reload.PanicError
			if !errors.As(failure, &panicked) || panicked.Value != "nil map" || !strings.Contains(string(panicked.Stack), "panics_test.go") || failure.Refused {
				t.Errorf("the error is %v", failure)
			}
			succeeds(t, r, c, "good")
		})
	}
}

// load need not read to the end: what it leaves is read after it.
func TestAPanicOfABodyBehindWhatLoadReadIsAnErrorOfReading(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	r := reload.New(c, panicky(func() *reload.Content {
		return &reload.Content{Revision: "bad", Size: -1, Body: io.NopCloser(panicReader{})}
	}), func(_ context.Context, next, _ *text, _ *reload.Content) error {
		next.value = append(next.value[:0], "unread"...)
		return nil
	}, reload.Options{Logger: quiet})
	failure := failsWith(t, r, reload.Reading)
	var panicked *reload.PanicError
	if !errors.As(failure, &panicked) || failure.Refused {
		t.Errorf("the error is %v", failure)
	}
	is(t, c, "")
	succeeds(t, r, c, "unread")
}

func TestAPanicOfPublishedIsLogged(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	var lines logs
	r := reload.New(c, panicky(func() *reload.Content {
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(strings.NewReader("first")), Published: func() error { panic("nil map") }}
	}), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	succeeds(t, r, c, "first")
	if all := lines.all(); len(all) != 1 || !strings.Contains(all[0], "reload: published, but") || !strings.Contains(all[0], "panic: nil map") {
		t.Errorf("the log is %q", all)
	}
}

// panicWaiter is a source that is asked for hints, and has none.
type panicWaiter struct{ reload.Source }

func (panicWaiter) Wait(context.Context, string) error { panic("nil map") }

func TestAPanicOfWaitLeavesTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		var lines logs
		_, _, fake := faked(reload.Options{})
		push(fake, "first")
		r := reload.New(c, panicWaiter{fake}, load, reload.Options{Every: time.Minute, Logger: lines.logger(slog.LevelWarn)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		is(t, c, "first")
		push(fake, "second")
		time.Sleep(2 * time.Minute)
		is(t, c, "second")
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if all := lines.all(); len(all) == 0 || !strings.Contains(all[0], "no hints from the source") || !strings.Contains(all[0], "panic: nil map") {
			t.Errorf("the log is %q", all)
		}
	})
}
