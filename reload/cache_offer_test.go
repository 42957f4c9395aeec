package reload_test

import (
	"context"
	"errors"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// What is kept is offered again if the attempt that it was offered to ended for
// a reason that says nothing about it.
func TestKeptContentIsOfferedUntilItIsLoadedOrRefused(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	fake.Fail(errDown)
	c, _ := newTexts()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := reload.New(c, reload.Cache(fake, dir), func(loading context.Context, next, current *text, content *reload.Content) error {
		cancel()
		return load(loading, next, current, content)
	}, reload.Options{Logger: quiet})
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	is(t, c, "")
	succeeds(t, r, c, "good")
}
