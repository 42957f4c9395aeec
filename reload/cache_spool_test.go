package reload_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// A Body that panics leaves no half of it behind, on disk or open.
func TestACacheOfABodyThatPanicsLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir, closed := t.TempDir(), 0
	r, _ := start(sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Revision: "1", Size: -1, Body: struct {
			io.Reader
			io.Closer
		}{panicReader{}, closing(func() error { closed++; return nil })}}, nil
	}), dir, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !errors.As(failure, new(*reload.PanicError)) {
		t.Error(failure)
	}
	cacheHas(t, dir, nil)
	if closed != 1 {
		t.Errorf("the Body was closed %d times", closed)
	}
}
