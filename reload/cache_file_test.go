package reload_test

import (
	"context"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// What a Cache has written is whole: it opens it for reading, under its name.
func TestTheFileOfACacheIsReadOnly(t *testing.T) {
	t.Parallel()
	fake := new(reloadtest.Fake)
	push(fake, "good")
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, t.TempDir()), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if _, err := content.File.WriteAt([]byte("!"), 0); err == nil {
			t.Error("load can write to it")
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "good")
}
