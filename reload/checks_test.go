package reload_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// key returns a key pair that is always the same.
func key(seed byte) (ed25519.PublicKey, ed25519.PrivateKey) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	return private.Public().(ed25519.PublicKey), private
}

func signed(private ed25519.PrivateKey, text string) []byte {
	sum := sumOf(text)
	return ed25519.Sign(private, sum[:])
}

// checkedReloader returns a Reloader of a source that wrap checks, and the fakes of
// the content and of its side.
func checkedReloader(wrap func(source, side reload.Source) reload.Source) (r *reload.Reloader, c *texts, content, side *reloadtest.Fake) {
	c, _ = newTexts()
	content, side = new(reloadtest.Fake), new(reloadtest.Fake)
	return reload.New(c, wrap(content, named{side, "side"}), load, reload.Options{Logger: quiet}), c, content, side
}

// checkedRevision is a revision with digests of the sides.
func checkedRevision(revision string, sides ...string) string {
	for _, side := range sides {
		sum := sumOf(side)
		revision += fmt.Sprintf(" | %x", sum[:8])
	}
	return revision
}

func TestSHA256Formats(t *testing.T) {
	t.Parallel()
	sum := fmt.Sprintf("%x", sumOf("content"))
	for name, side := range map[string]string{
		"bare": sum, "a line": sum + "\n", "as sha256sum writes it": sum + "  content.csv\n", "of a binary": sum + " *content.csv\n",
		"upper case": strings.ToUpper(sum), "after space": "  " + sum, "with a carriage return": sum + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c, content, sums := checkedReloader(reload.VerifySHA256)
			push(content, "content")
			push(sums, "%s", side)
			succeeds(t, r, c, "content")
			succeeds(t, r, c, "content")
			if s := r.Status(); s.Revision != checkedRevision("1", side) || s.Swaps != 1 || s.Source != "fake" {
				t.Errorf("the status is %+v", s)
			}
			if content.Open()+sums.Open() != 0 {
				t.Error("bodies are open")
			}
		})
	}
}

func TestChecksRefuse(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	_, other := key('b')
	sign := func(source, side reload.Source) reload.Source { return reload.VerifyEd25519(source, side, public) }
	sum := sumOf("content")
	const noSum = "side holds no SHA-256 of 64 hexadecimal digits"
	const noSignature = "side holds no Ed25519 signature of 64 bytes, raw or in base64"
	for name, test := range map[string]struct {
		wrap func(source, side reload.Source) reload.Source
		side string
		want string
	}{
		"wrong sum":              {reload.VerifySHA256, strings.Repeat("0", 64), fmt.Sprintf("its SHA-256 is %x, and side says %s", sum, strings.Repeat("0", 64))},
		"empty sum":              {reload.VerifySHA256, "", noSum},
		"short sum":              {reload.VerifySHA256, "ed7002", noSum},
		"long sum":               {reload.VerifySHA256, fmt.Sprintf("%x00", sum), noSum},
		"page instead of a sum":  {reload.VerifySHA256, "<html>not found</html>", noSum},
		"signature by another":   {sign, string(signed(other, "content")), "the signature in side is of other content, or by none of the keys"},
		"signature of another":   {sign, string(signed(private, "Content")), "the signature in side is of other content, or by none of the keys"},
		"signature of no bytes":  {sign, "", noSignature},
		"short signature":        {sign, string(signed(private, "content")[:63]), noSignature},
		"base64 of half of one":  {sign, base64.StdEncoding.EncodeToString(signed(private, "content")[:32]), noSignature},
		"page, not a signature":  {sign, "<html>not found</html>", noSignature},
		"64 bytes of no meaning": {sign, strings.Repeat("A", 64), "the signature in side is of other content, or by none of the keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c, content, side := checkedReloader(test.wrap)
			push(content, "content")
			push(side, "%s", test.side)
			for attempt := range 2 {
				failure := failsWith(t, r, reload.Verifying)
				if failure.Err.Error() != test.want || failure.Refused || failure.Revision != checkedRevision("1", test.side) {
					t.Errorf("attempt %d: %v, want %s", attempt, failure, test.want)
				}
			}
			is(t, c, "")

			if strings.Contains(test.want, "SHA-256") { // the side changes, and the same content is right
				push(side, "%x", sum)
			} else {
				side.Push(signed(private, "content"))
			}
			succeeds(t, r, c, "content")
			if content.Open()+side.Open() != 0 {
				t.Error("bodies are open")
			}
		})
	}
}

func TestEd25519Formats(t *testing.T) {
	t.Parallel()
	old, _ := key('a')
	public, private := key('b')
	for name, side := range map[string]string{
		"raw":       string(signed(private, "content")),
		"in base64": base64.StdEncoding.EncodeToString(signed(private, "content")) + "\n",
	} {
		r, c, content, signatures := checkedReloader(func(source, side reload.Source) reload.Source {
			return reload.VerifyEd25519(source, side, old, public)
		})
		push(content, "content")
		signatures.Push([]byte(side))
		t.Log(name)
		succeeds(t, r, c, "content")
	}
}

// TestChecksDistrustOldAnswers has the origin give the content and the checksum of
// before under the revisions of the newest.
func TestChecksDistrustOldAnswers(t *testing.T) {
	t.Parallel()
	served := "one"
	origin := func(of func(text string) string) reload.Source {
		return sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
			if have == "two" {
				return nil, reload.ErrNotModified
			}
			return &reload.Content{Revision: "two", Size: -1, Body: io.NopCloser(strings.NewReader(of(served)))}, nil
		})
	}
	c, _ := newTexts()
	r := reload.New(c, reload.VerifySHA256(
		origin(func(text string) string { return text }),
		origin(func(text string) string { return fmt.Sprintf("%x", sumOf(text)) }),
	), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "one")
	served = "two"
	succeeds(t, r, c, "two")
}

// The origin replaces two files, never both at once.
func TestChecksSideChangesApart(t *testing.T) {
	t.Parallel()
	for _, sumFirst := range []bool{false, true} {
		r, c, content, sums := checkedReloader(reload.VerifySHA256)
		push(content, "one")
		push(sums, "%x", sumOf("one"))
		succeeds(t, r, c, "one")
		steps := []func(){func() { push(content, "two") }, func() { push(sums, "%x", sumOf("two")) }}
		if sumFirst {
			steps[0], steps[1] = steps[1], steps[0]
		}
		steps[0]()
		for range 3 {
			if err := r.Reload(t.Context()); err == nil {
				t.Error("content that does not fit is no error")
			}
			is(t, c, "one")
		}
		steps[1]()
		succeeds(t, r, c, "two")
		if s := r.Status(); s.Failures != 0 || s.Refused != "" {
			t.Errorf("the status is %+v", s)
		}
	}
}

func TestChecksSideFails(t *testing.T) {
	t.Parallel()
	r, c, content, sums := checkedReloader(reload.VerifySHA256)
	push(content, "content")
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, reloadtest.ErrEmpty) || failure.Err.Error() != "side: "+reloadtest.ErrEmpty.Error() {
		t.Error(failure)
	}
	if content.Fetches() != 0 {
		t.Error("content was fetched that cannot be checked")
	}
	push(sums, "%s", strings.Repeat("x", 64<<10+1))
	if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "side: more than the 65536 bytes that a checksum or signature may have" || failure.Refused {
		t.Error(failure)
	}
	push(sums, "%x", sumOf("content"))
	sums.Truncate(10, nil)
	if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "side: the body ends after 10 of 64 bytes: unexpected EOF" {
		t.Error(failure)
	}
	sums.Truncate(-1, nil)
	succeeds(t, r, c, "content")
	sums.Fail(errDown)
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, errDown) {
		t.Error(failure)
	}
	is(t, c, "content")
	if content.Open()+sums.Open() != 0 {
		t.Error("bodies are open")
	}
}

func TestEd25519KeysPanic(t *testing.T) {
	t.Parallel()
	public, _ := key('a')
	source := new(reloadtest.Fake)
	pooltest.WantPanic(t, "reload: VerifyEd25519 without a key", func() { reload.VerifyEd25519(source, source) })
	pooltest.WantPanic(t, "reload: VerifyEd25519 with a key of 31 bytes, not 32", func() { reload.VerifyEd25519(source, source, public, public[:31]) })
	pooltest.WantPanic(t, "reload: VerifyEd25519 with a key of 0 bytes, not 32", func() { reload.VerifyEd25519(source, source, nil) })
	pooltest.WantPanic(t, "reload: VerifySigned without a key", func() { reload.VerifySigned(source, source, "deny") })
	pooltest.WantPanic(t, "reload: VerifySigned without a name", func() { reload.VerifySigned(source, source, "", public) })
}

// A check gives no revision to content that has none: such content is fetched at
// each attempt, and an error must not say otherwise.
func TestChecksWithoutRevision(t *testing.T) {
	t.Parallel()
	text, fetches := []byte("bad"), 0
	source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		fetches++
		return &reload.Content{Size: -1, Body: io.NopCloser(bytes.NewReader(text))}, nil
	})
	sums := new(reloadtest.Fake)
	push(sums, "%x", sha256.Sum256(text))
	c, _ := newTexts()
	r := reload.New(c, reload.VerifySHA256(source, sums), load, reload.Options{Logger: quiet})
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

func TestChecksSideTooLong(t *testing.T) {
	t.Parallel()
	r, _, content, _ := checkedReloader(func(source, _ reload.Source) reload.Source {
		return reload.VerifySHA256(source, sourceFunc(func(context.Context, string) (*reload.Content, error) {
			return &reload.Content{Revision: "1", Size: 10, Body: io.NopCloser(strings.NewReader(strings.Repeat("0", 64)))}, nil
		}))
	})
	push(content, "content")
	if failure := failsWith(t, r, reload.Fetching); !strings.HasSuffix(failure.Err.Error(), "the body is longer than the 10 bytes that the source announced") {
		t.Error(failure)
	}
}

// bothChecks returns a Reloader with a checksum and a signature, and the fakes.
func bothChecks(public ed25519.PublicKey) (r *reload.Reloader, c *texts, content, sums, signatures *reloadtest.Fake) {
	signatures = new(reloadtest.Fake)
	r, c, content, sums = checkedReloader(func(source, side reload.Source) reload.Source {
		return reload.VerifyEd25519(reload.VerifySHA256(source, side), named{signatures, "signatures"}, public)
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

// A cache around the checks keeps the checked content, and transfers it no more.
func TestChecksWithinCache(t *testing.T) {
	t.Parallel()
	dir, content, sums := t.TempDir(), new(reloadtest.Fake), new(reloadtest.Fake)
	push(content, "content")
	push(sums, "%x", sumOf("content"))
	newProcess := func() (*reload.Reloader, *texts) {
		return start(reload.VerifySHA256(content, named{sums, "side"}), dir, reload.Options{})
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
