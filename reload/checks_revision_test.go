package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A check gives no revision to content that has none: such content is fetched at
// each attempt, and an error must not say otherwise.
func TestCheckedContentWithoutARevisionIsFetchedEachTime(t *testing.T) {
	t.Parallel()
	text, fetches := []byte("bad"), 0
	source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		fetches++
		return &reload.Content{Size: -1, Body: io.NopCloser(bytes.NewReader(text))}, nil
	})
	sums := new(reloadtest.Fake)
	push(sums, "%x", sha256.Sum256(text))
	c, _ := newTexts()
	r := reload.New(c, reload.WithSHA256(source, sums), load, reload.Options{Logger: quiet})
	for i := range 2 {
		failure := failsWith(t, r, reload.Loading)
		if s := r.Status(); failure.Refused || failure.Revision != "" || s.Refused != "" || fetches != i+1 {
			t.Errorf("after %d fetches the error is %v, and %q is refused", fetches, failure, s.Refused)
		}
	}
	text = []byte("good")
	push(sums, "%x", sha256.Sum256(text))
	succeeds(t, r, c, "good")
	if got := r.Status().Revision; got != "" {
		t.Errorf("the revision is %q", got)
	}
}
