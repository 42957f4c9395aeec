package reload_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// ending is a Source that calls a function at the end of each Body.
type ending struct {
	reload.Source
	end func()
}

func (e ending) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := e.Source.Fetch(ctx, have)
	if err == nil {
		content.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(content.Body, atEnd(e.end)), content.Body}
	}
	return content, err
}

// atEnd is an empty reader.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// TestKeyThatGoesMeanwhile has a thief of a key, who holds a transfer until the key has
// gone.
func TestKeyThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	stolen, private := key(1)
	after, _ := key(2)
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"alone":      func(s reload.Source) reload.Source { return s },
		"in a Cache": func(s reload.Source) reload.Source { return reload.Cache(s, t.TempDir()) },
	} {
		x := newRotated()
		x.keys.Push(pemOf(t, stolen))
		x.push("evil", private)
		held := ending{x.content, func() { x.keys.Push(pemOf(t, after)) }}
		source := reload.VerifyWithKeys(held, x.signature, "", reload.KeysFrom(x.keys))
		c, _ := newTexts()
		r := reload.New(c, wrap(source), load, reload.Options{Logger: quiet})
		if failure := failsWith(t, r, reload.Verifying); !strings.Contains(failure.Error(), "by none of the keys") {
			t.Errorf("%s: the error is %v", name, failure)
		}
		is(t, c, "")
	}
}

// TestKeysOfFallback has keys of a server, and embedded ones, which do not come back
// while the server is down.
func TestKeysOfFallback(t *testing.T) {
	t.Parallel()
	before, oldPrivate := key(1)
	after, newPrivate := key(2)
	for _, without := range []string{"", "revisions"} {
		x, embedded := newRotated(), new(reloadtest.Fake)
		var server reload.Source = x.keys
		if without != "" {
			server = nameless{x.keys}
		}
		keys := reload.KeysFrom(reload.Fallback(named{server, "server"}, embedded))
		source := reload.VerifyWithKeys(x.content, x.signature, "", keys)
		c, _ := newTexts()
		r := reload.New(c, source, load, reload.Options{Logger: quiet})
		embedded.Push(pemOf(t, before))
		x.keys.Fail(errDown)
		x.push("one", oldPrivate)
		succeeds(t, r, c, "one")
		x.push("two", oldPrivate)
		succeeds(t, r, c, "two")
		x.keys.Push(pemOf(t, after))
		x.push("three", newPrivate)
		succeeds(t, r, c, "three")
		x.keys.Fail(errDown)
		x.push("evil", oldPrivate)
		for _, each := range []*reload.Reloader{r, reload.New(c, source, load, reload.Options{Logger: quiet})} {
			if failure := failsWith(t, each, reload.Fetching); !strings.Contains(failure.Error(), "not known to be newer") {
				t.Errorf("without %q: the error is %v", without, failure)
			}
		}
		is(t, c, "three")
		x.keys.Push(pemOf(t, after))
		x.push("four", newPrivate)
		succeeds(t, r, c, "four")
	}
}

// nameless is a Source without revisions.
type nameless struct{ reload.Source }

func (n nameless) Fetch(ctx context.Context, _ string) (*reload.Content, error) {
	content, err := n.Source.Fetch(ctx, "")
	if err == nil {
		content.Revision = ""
	}
	return content, err
}

// TestSumsOfFallback has a checksum in two places, the first of which goes.
func TestSumsOfFallback(t *testing.T) {
	t.Parallel()
	origin, first, second := new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake)
	source := reload.VerifySHA256(origin, reload.Fallback(first, second))
	c, _ := newTexts()
	r := reload.New(c, source, load, reload.Options{Logger: quiet})
	push(origin, "one")
	push(first, "%x", sumOf("one"))
	succeeds(t, r, c, "one")
	first.Fail(errDown)
	push(origin, "two")
	push(second, "%x", sumOf("two"))
	succeeds(t, r, c, "two")
	second.Push(bytes.Repeat([]byte("0"), 64))
	failsWith(t, r, reload.Verifying)
}
