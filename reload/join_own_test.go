package reload_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// joinOwn is a Source of one's own that has parts.
func joinOwn(parts func() []*reload.Content) reload.Source {
	return named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		content := &reload.Content{Revision: "7", Size: -1, Parts: parts()}
		content.Body = struct {
			io.Reader
			closing
		}{http.NoBody, func() (err error) {
			for _, part := range content.Parts {
				err = errors.Join(err, part.Body.Close())
			}
			return err
		}}
		return content, nil
	}), "own"}
}

func TestASourceOfOnesOwnCanHaveParts(t *testing.T) {
	t.Parallel()
	closed := ""
	part := func(text string) *reload.Content {
		return &reload.Content{Source: text, Size: -1, Body: struct {
			io.Reader
			closing
		}{strings.NewReader(text), func() error { closed += text + " "; return nil }}}
	}
	r, c := joinReloader(joinOwn(func() []*reload.Content { return []*reload.Content{part("users"), part("roles")} }), loadJoined)
	succeeds(t, r, c, "users=users roles=roles ")
	if closed != "users roles " {
		t.Errorf("closed are %q", closed)
	}
	for want, bad := range map[string]*reload.Content{
		"the Source returned content without a Body":                                     {Parts: []*reload.Content{part("a"), {}}, Body: http.NoBody},
		"the Source returned neither content nor an error":                               {Parts: []*reload.Content{nil}, Body: http.NoBody},
		"the Source returned content with Parts and a Verify: give the Verify to a part": {Parts: []*reload.Content{part("a")}, Body: http.NoBody, Verify: func([32]byte) error { return nil }},
	} {
		r, c := joinReloader(joinOwn(func() []*reload.Content { return []*reload.Content{bad} }), loadJoined)
		if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != want || failure.Refused {
			t.Errorf("the error is %v, want %s", failure, want)
		}
		is(t, c, "")
	}
}
