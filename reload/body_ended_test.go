package reload_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// A load that takes no notice of its ctx publishes nothing once that has ended.
func TestNothingIsPublishedAfterTheCtxHasEnded(t *testing.T) {
	t.Parallel()
	fake := keptThenBad(t, t.TempDir())
	c, _ := newTexts()
	ctx, cancel := context.WithCancel(t.Context())
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		cancel()
		return err
	}, reload.Options{Logger: quiet})
	push(fake, "good")
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Reload returned %v", err)
	}
	is(t, c, "")
	succeeds(t, r, c, "good")
}

// A load that keeps the Body cannot read what a later attempt may have under it.
func TestABodyThatLoadKeptCannotBeRead(t *testing.T) {
	t.Parallel()
	var kept io.Reader
	fake := keptThenBad(t, t.TempDir())
	c, _ := newTexts()
	r := reload.New(c, fake, func(ctx context.Context, next, current *text, content *reload.Content) error {
		kept = content.Body
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	push(fake, "good")
	succeeds(t, r, c, "good")
	if n, err := kept.Read(make([]byte, 4)); n != 0 || err == nil || !strings.Contains(err.Error(), "after load had returned") {
		t.Errorf("Read returned %d and %v", n, err)
	}
}
