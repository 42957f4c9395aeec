package reload_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// pemOf returns public keys as openssl writes them.
func pemOf(t testing.TB, keys ...any) []byte {
	t.Helper()
	var text bytes.Buffer
	for _, key := range keys {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := pem.Encode(&text, &pem.Block{Type: "PUBLIC KEY", Bytes: der}); err != nil {
			t.Fatal(err)
		}
	}
	return text.Bytes()
}

// rotated is content with its signature, and the keys of today in PEM.
type rotated struct {
	content, signature, keys *reloadtest.Fake
}

func newRotated() rotated {
	return rotated{new(reloadtest.Fake), new(reloadtest.Fake), new(reloadtest.Fake)}
}

func (x rotated) source() reload.Source {
	return reload.VerifyWithKeys(x.content, x.signature, "", reload.KeysFrom(named{x.keys, "keys.pem"}))
}

func (x rotated) push(text string, private ed25519.PrivateKey) {
	x.content.Push([]byte(text))
	x.signature.Push(signed(private, text))
}

func TestVerifyWithKeys(t *testing.T) {
	t.Parallel()
	before, oldPrivate := key(1)
	after, newPrivate := key(2)
	t.Run("keys are rotated without a restart", func(t *testing.T) {
		x := newRotated()
		c, _ := newTexts()
		r := reload.New(c, x.source(), load, reload.Options{Logger: quiet})
		x.keys.Push(pemOf(t, before))
		x.push("one", oldPrivate)
		succeeds(t, r, c, "one")
		x.push("two", newPrivate)
		failsWith(t, r, reload.Verifying)
		x.keys.Push(pemOf(t, before, after))
		succeeds(t, r, c, "two")
		x.keys.Push(pemOf(t, after))
		x.push("three", oldPrivate)
		failsWith(t, r, reload.Verifying)
		is(t, c, "two")
		if n := x.content.Open() + x.keys.Open(); n != 0 {
			t.Errorf("%d bodies are open", n)
		}
	})
	t.Run("a Cache keeps its content, and verifies it with the keys of today", func(t *testing.T) {
		for name, test := range map[string]struct {
			today []byte
			want  string
		}{
			"the same":         {pemOf(t, before), "content"},
			"another one":      {pemOf(t, after, before), "content"},
			"the old one gone": {pemOf(t, after), ""},
			"no keys":          {nil, ""},
		} {
			x, dir := newRotated(), t.TempDir()
			x.keys.Push(pemOf(t, before))
			x.push("content", oldPrivate)
			cacheRestarts(t, x.source(), dir, "content")
			x.content.Fail(errDown)
			x.keys.Push(test.today)
			r, c := start(x.source(), dir, reload.Options{})
			if err := r.Reload(t.Context()); (err == nil) != (test.want != "") {
				t.Errorf("%s: Reload returned %v", name, err)
			}
			is(t, c, test.want)
		}
	})
	t.Run("while the keys cannot be read, nothing is loaded", func(t *testing.T) {
		x, dir := newRotated(), t.TempDir()
		x.keys.Push(pemOf(t, before))
		x.push("content", oldPrivate)
		cacheRestarts(t, x.source(), dir, "content")
		x.keys.Fail(errDown)
		r, c := start(x.source(), dir, reload.Options{})
		if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "the keys: keys.pem: the origin is down") {
			t.Error(failure)
		}
		if n := x.content.Open(); n != 0 {
			t.Errorf("%d bodies are open", n)
		}
		x.keys.Push(pemOf(t, before))
		succeeds(t, r, c, "content")
	})
	t.Run("an idle poll does not read the keys", func(t *testing.T) {
		x := newRotated()
		c, _ := newTexts()
		r := reload.New(c, x.source(), load, reload.Options{Logger: quiet})
		x.keys.Push(pemOf(t, before))
		x.push("content", oldPrivate)
		for range 3 {
			succeeds(t, r, c, "content")
		}
		if n := x.keys.Fetches(); n != 2 { // before and after the transfer
			t.Errorf("the keys were read %d times", n)
		}
	})
	t.Run("a name is signed, too", func(t *testing.T) {
		x := newRotated()
		x.push("content", oldPrivate) // without a name
		keys := func(context.Context) ([]ed25519.PublicKey, error) { return []ed25519.PublicKey{before}, nil }
		c, _ := newTexts()
		r := reload.New(c, reload.VerifyWithKeys(x.content, x.signature, "deny", keys), load, reload.Options{Logger: quiet})
		failsWith(t, r, reload.Verifying)
		x.signature.Push(ed25519.Sign(oldPrivate, reload.Statement("deny", sumOf("content"))))
		succeeds(t, r, c, "content")
	})
}

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	good, private := key(1)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(good)
	if err != nil {
		t.Fatal(err)
	}
	text := pemOf(t, good)
	file := func(content []byte) reload.Keys {
		fake := new(reloadtest.Fake)
		fake.Push(content)
		return reload.KeysFrom(fake)
	}
	for want, keys := range map[string]reload.Keys{
		"fake: it holds no public key in PEM":                    file([]byte("hello")),
		"the keys: there are none":                               func(context.Context) ([]ed25519.PublicKey, error) { return nil, nil },
		"block 1 is no public key of Ed25519":                    file(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
		"is no public key of Ed25519":                            file(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		"block 2 is no public key of Ed25519":                    file(pemOf(t, good, other.Public())),
		"block 2 does not end":                                   file(append(bytes.Clone(text), text[:len(text)-5]...)),
		"more than the 65536 bytes that a file of keys may have": file(bytes.Repeat(text, 1000)),
		"one has 3 bytes, not 32":                                func(context.Context) ([]ed25519.PublicKey, error) { return []ed25519.PublicKey{good, good[:3]}, nil },
		"panic: no vault":                                        func(context.Context) ([]ed25519.PublicKey, error) { panic("no vault") },
		"the origin is down":                                     func(context.Context) ([]ed25519.PublicKey, error) { return nil, errDown },
	} {
		x := newRotated()
		x.push("content", private)
		c, _ := newTexts()
		r := reload.New(c, reload.VerifyWithKeys(x.content, x.signature, "", keys), load, reload.Options{Logger: quiet})
		if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), want) {
			t.Errorf("the error is %.300v, want %s", failure, want)
		}
	}
	pooltest.WantPanic(t, "reload: VerifyWithKeys without Keys", func() { reload.VerifyWithKeys(given("", 0, ""), given("", 0, ""), "", nil) })
	pooltest.WantPanic(t, "reload: KeysFrom with a nil Source", func() { reload.KeysFrom(nil) })
}

func TestKeysAreThoseOfTheCall(t *testing.T) {
	t.Parallel()
	good, private := key(1)
	other, _ := key(2)
	x := newRotated()
	x.push("content", private)
	keys := []ed25519.PublicKey{good}
	source := reload.VerifyEd25519(x.content, x.signature, keys...)
	keys[0] = other
	c, _ := newTexts()
	succeeds(t, reload.New(c, source, load, reload.Options{Logger: quiet}), c, "content")
}

// A file of keys is read again when it changes, and may be signed by a key that does not.
func TestKeysFromFile(t *testing.T) {
	t.Parallel()
	root, rootPrivate := key(3)
	before, _ := key(1)
	after, _ := key(2)
	name := filepath.Join(t.TempDir(), "keys.pem")
	put := func(private ed25519.PrivateKey, keys ...any) {
		text := pemOf(t, keys...)
		renamed(name).Put(t, text)
		renamed(name+".sig").Put(t, signed(private, string(text)))
	}
	keys := reload.KeysFrom(reload.VerifyEd25519(reload.File(name), reload.File(name+".sig"), root))
	expect := func(want ...ed25519.PublicKey) {
		t.Helper()
		for range 2 {
			got, err := keys(t.Context())
			if err != nil || len(got) != len(want) {
				t.Fatalf("%d keys, %v, want %d", len(got), err, len(want))
			}
			for i := range want {
				if !want[i].Equal(got[i]) {
					t.Errorf("key %d is another one", i)
				}
			}
		}
	}
	put(rootPrivate, before)
	expect(before)
	put(rootPrivate, before, after)
	expect(before, after)
	_, forger := key(4)
	put(forger, after)
	if got, err := keys(t.Context()); got != nil || err == nil || !strings.Contains(err.Error(), "by none of the keys") {
		t.Errorf("%v, %v", got, err)
	}
	cut := pemOf(t, after)[:50]
	renamed(name).Put(t, cut)
	renamed(name+".sig").Put(t, signed(rootPrivate, string(cut)))
	for range 2 { // the keys of before do not come back
		if got, err := keys(t.Context()); got != nil || err == nil || !strings.Contains(err.Error(), "block 1 does not end") {
			t.Errorf("%v, %v", got, err)
		}
	}
	put(rootPrivate, after)
	expect(after)
	renamed(name).Remove(t)
	if _, err := keys(t.Context()); err == nil || errors.Is(err, reload.ErrNotModified) {
		t.Errorf("without the file, the error is %v", err)
	}
}

func TestKeysFromHeedsContext(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	public, _ := key(1)
	text := pemOf(t, public)
	keys := reload.KeysFrom(sourceFunc(func(context.Context, string) (*reload.Content, error) {
		close(asked)
		<-release
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(bytes.NewReader(text))}, nil
	}))
	done := make(chan error)
	go func() {
		_, err := keys(t.Context())
		done <- err
	}()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := keys(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the keys, while another asks for them and with a ctx that has ended: %v", err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

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
