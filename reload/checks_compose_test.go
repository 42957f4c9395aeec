package reload_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// bothChecks returns a Reloader with a checksum and a signature, and the fakes.
func bothChecks(public ed25519.PublicKey) (r *reload.Reloader, c *texts, content, sums, signatures *reloadtest.Fake) {
	signatures = new(reloadtest.Fake)
	r, c, content, sums = checkedReloader(func(source, side reload.Source) reload.Source {
		return reload.WithEd25519(reload.WithSHA256(source, side), named{signatures, "signatures"}, public)
	})
	return r, c, content, sums, signatures
}

func TestChecksCompose(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	r, c, content, sums, signatures := bothChecks(public)
	push(content, "content")
	push(sums, "%x", sumOf("content"))
	signatures.Push(signed(private, "content"))
	succeeds(t, r, c, "content")
	attempts := make([]reload.Status, 3)
	for i := range attempts {
		succeeds(t, r, c, "content")
		attempts[i] = r.Status()
	}
	if s := attempts[2]; s.Revision != checkedRevision("1", fmt.Sprintf("%x", sumOf("content")), string(signed(private, "content"))) || s.Checked.Equal(attempts[0].Checked) {
		t.Errorf("the status is %+v", s)
	}
	content.Truncate(0, errDown) // another transfer would fail
	succeeds(t, r, c, "content")
	content.Truncate(-1, nil)

	push(signatures, "garbage")
	if failure := failsWith(t, r, reload.Verifying); !strings.HasPrefix(failure.Err.Error(), "signatures holds no Ed25519 signature") {
		t.Error(failure)
	}
	signatures.Push(signed(private, "content"))
	push(sums, "garbage")
	if failure := failsWith(t, r, reload.Verifying); !strings.HasPrefix(failure.Err.Error(), "side holds no SHA-256") {
		t.Error(failure)
	}
	push(sums, "%x", sumOf("content"))
	succeeds(t, r, c, "content")
	is(t, c, "content")
}

// A cache around the checks keeps what was checked, and transfers it no more.
func TestACacheOfCheckedContent(t *testing.T) {
	t.Parallel()
	dir, content, sums := t.TempDir(), new(reloadtest.Fake), new(reloadtest.Fake)
	push(content, "content")
	push(sums, "%x", sumOf("content"))
	newProcess := func() (*reload.Reloader, *texts) {
		return start(reload.WithSHA256(content, named{sums, "side"}), dir, reload.Options{})
	}
	r, c := newProcess()
	succeeds(t, r, c, "content")
	content.Truncate(0, errDown) // another transfer would fail
	r, c = newProcess()
	succeeds(t, r, c, "content")
	if s := r.Status(); s.Stale != nil {
		t.Errorf("the content is stale: %v", s.Stale)
	}
	sums.Fail(errDown)
	r, c = newProcess()
	succeeds(t, r, c, "content")
	if s := r.Status(); !errors.Is(s.Stale, errDown) {
		t.Errorf("the content is not stale: %v", s.Stale)
	}
	push(content, "evil")
	push(sums, "%x", sumOf("content"))
	for range 2 {
		failsWith(t, r, reload.Verifying)
	}
	sums.Fail(errDown)
	r, c = newProcess()
	succeeds(t, r, c, "content")
}

func TestHintsPassThroughChecksAndCaches(t *testing.T) {
	t.Parallel()
	fake, sums, signatures := new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake)
	public, _ := key('a')
	push(fake, "one")
	source := reload.Cache(reload.WithEd25519(reload.WithSHA256(fake, sums), signatures, public), t.TempDir()).(reload.Waiter)
	hint := make(chan error, 1)
	go func() { hint <- source.Wait(t.Context(), "1 | 7 | 8") }()
	select {
	case err := <-hint:
		t.Errorf("a hint without a change: %v", err)
	default: // it waits, or has not begun
	}
	push(fake, "two")
	if err := <-hint; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := source.Wait(ctx, "2 | 7 | 8"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
