package reload_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A Source that breaks its contract is told so, by those around it, too.
func TestASourceWithoutContentIsToldSoByWhatIsAroundIt(t *testing.T) {
	t.Parallel()
	sums := new(reloadtest.Fake)
	push(sums, "%x", sumOf("content"))
	for what, content := range map[string]*reload.Content{
		"neither content nor an error": nil, "content without a Body": {},
	} {
		none := sourceFunc(func(context.Context, string) (*reload.Content, error) { return content, nil })
		for name, source := range map[string]reload.Source{
			"a cache":       reload.Cache(none, t.TempDir()),
			"a check":       reload.WithSHA256(none, sums),
			"a check's sum": reload.WithSHA256(sums, none),
		} {
			r := reload.New(poolswap.NewEmptyContainer(poolswap.NewPool(func() *text { return new(text) }, nil)), source, load, reload.Options{Logger: quiet})
			if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), what) || errors.As(failure, new(*reload.PanicError)) {
				t.Error(fmt.Sprint(name, ": ", failure.Error())[:100])
			}
		}
	}
}

// ErrNotModified for no revision would make Reload say that the newest content is
// loaded, while nothing is.
func TestNotModifiedForNoRevisionIsAFailure(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) { return nil, reload.ErrNotModified }), load, reload.Options{Logger: quiet})
	failure := failsWith(t, r, reload.Fetching)
	if s := r.Status(); s.State() != "failing" || !strings.Contains(failure.Error(), "ErrNotModified for no revision") {
		t.Errorf("Reload returned %v, the state is %s", failure, s.State())
	}
}
