package reload_test

import (
	"context"
	"crypto/ed25519"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// confirmedAt makes it look as if the content that a directory keeps was last known
// to be the newest then.
func confirmedAt(t *testing.T, dir string, then time.Time) {
	t.Helper()
	if err := os.Chtimes(filepath.Join(dir, "kept.json"), then, then); err != nil {
		t.Fatal(err)
	}
}

func TestCacheAgeSpansProcesses(t *testing.T) {
	t.Parallel()
	dir, fake, old, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))

	fake.Fail(errDown)
	r, _ := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() < 30*24*time.Hour || s.Age() > 31*24*time.Hour || s.Stale == nil || s.Failures != 1 {
		t.Errorf("the age is %v, the status %+v", s.Age(), s)
	}

	push(fake, "good") // a new revision with the same bytes
	if err := old.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	fake.Fail(errDown)
	r, _ = cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() > time.Hour || s.Revision != "2" {
		t.Errorf("the age is %v, the status %+v", s.Age(), s)
	}
}

func TestCacheAgeEndsWithAnAnswer(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"in the same process": false, "in the next one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake, r, c := cacheKept(t, "good")
			if again {
				r, c = cacheRestarts(t, fake, dir, "good")
			}
			confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))
			succeeds(t, r, c, "good") // not modified
			fake.Fail(errDown)
			r, _ = cacheRestarts(t, fake, dir, "good")
			if age := r.Status().Age(); age > time.Hour {
				t.Errorf("the age is %v", age)
			}
		})
	}
}

// A confirmation of refused content says nothing of the kept content.
func TestCacheAgeGrowsDuringRefusal(t *testing.T) {
	t.Parallel()
	dir, fake, r, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(-30*24*time.Hour))
	push(fake, "bad")
	for range 2 {
		failsWith(t, r, reload.Loading)
	}
	r, _ = cacheRestarts(t, fake, dir, "good")
	if age := r.Status().Age(); age < 30*24*time.Hour {
		t.Errorf("the age is %v", age)
	}
}

// Two products can differ in the query alone, which names and errors do not show.
func TestCacheIdentityHasQuery(t *testing.T) {
	t.Parallel()
	down := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", `"1"`) // of each product
		w.Write([]byte(r.URL.Query().Get("edition")))
	}))
	defer server.Close()
	dir := t.TempDir()
	edition := func(name string) reload.Source {
		return reload.HTTP(server.URL+"/download?licence=kept-secret&edition="+name, reload.HTTPOptions{})
	}
	cacheRestarts(t, edition("country"), dir, "country")
	text, err := os.ReadFile(filepath.Join(dir, "kept.json"))
	if err != nil || strings.Contains(string(text), "kept-secret") {
		t.Errorf("kept.json is %s, %v", text, err)
	}
	cacheRestarts(t, edition("country"), dir, "country")
	down = true
	r, c := start(edition("asn"), dir, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "it is of a source with another query or other checks") {
		t.Error(failure)
	}
	is(t, c, "")
	down = false
	succeeds(t, r, c, "asn")
}

// A record of the future was made by a clock that was wrong.
func TestCacheAgeIsNotNegative(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	confirmedAt(t, dir, time.Now().Add(1000*time.Hour))
	fake.Fail(errDown)
	r, _ := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Age() < 0 || s.Checked.After(time.Now()) {
		t.Errorf("the age is %v, checked at %v", s.Age(), s.Checked)
	}
}

// The status is read as soon as there is something: its age is never that of the
// year 1.
func TestAgeIsKnownAtPublication(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"fetched": false, "kept": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *reload.Reloader
			closed := false
			source := restorerOf{kept, closing(func() error {
				if s := r.Status(); s.Version != 1 || s.Age() > time.Hour {
					t.Errorf("the age of version %d is %v", s.Version, s.Age())
				}
				closed = true
				return nil
			})}
			c, _ := newTexts()
			r = reload.New(c, source, load, reload.Options{Logger: quiet})
			succeeds(t, r, c, "good")
			if !closed {
				t.Error("the content was not closed")
			}
		})
	}
}

// restorerOf keeps content, or fetches it, and tells when it is closed.
type restorerOf struct {
	keeps bool
	io.Closer
}

func (k restorerOf) content() *reload.Content {
	return &reload.Content{Revision: "1", Size: -1, Body: struct {
		io.Reader
		io.Closer
	}{strings.NewReader("good"), k.Closer}}
}

func (k restorerOf) Fetch(_ context.Context, have string) (*reload.Content, error) {
	if have == "1" {
		return nil, reload.ErrNotModified
	}
	return k.content(), nil
}

func (k restorerOf) Restore(context.Context) (*reload.Content, time.Time, error) {
	if !k.keeps {
		return nil, time.Time{}, nil
	}
	return k.content(), time.Now(), nil
}

// Content that was kept without a check, or with other keys, was not verified by
// the checks and keys of today.
func TestCacheIdentityHasChecks(t *testing.T) {
	t.Parallel()
	oldKey, oldPrivate := key(1)
	newKey, _ := key(2)
	signature, sums := new(reloadtest.Fake), new(reloadtest.Fake)
	signature.Push(signed(oldPrivate, "content"))
	push(sums, "%x", sumOf("content"))
	withKeys := func(keys ...ed25519.PublicKey) func(reload.Source) reload.Source {
		return func(source reload.Source) reload.Source { return reload.VerifyEd25519(source, signature, keys...) }
	}
	plainly := func(source reload.Source) reload.Source { return source }
	summed := func(source reload.Source) reload.Source { return reload.VerifySHA256(source, sums) }
	for name, test := range map[string]struct {
		before, now func(reload.Source) reload.Source
		want, err   string
	}{
		"a key that was withdrawn":         {withKeys(oldKey), withKeys(newKey), "", "by none of the keys"},
		"a signature where there was none": {plainly, withKeys(oldKey), "", "other checks"},
		"a checksum where there was none":  {plainly, summed, "", "other checks"},
		"a signature that was a checksum":  {summed, withKeys(oldKey), "", "other checks"},
		"the same keys":                    {withKeys(oldKey, newKey), withKeys(oldKey, newKey), "content", ""},
		"the same keys in another order":   {withKeys(oldKey, newKey), withKeys(newKey, oldKey), "content", ""},
		"a key that was added":             {withKeys(oldKey), withKeys(newKey, oldKey), "content", ""},
		"the same checksums":               {summed, summed, "content", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake := t.TempDir(), new(reloadtest.Fake)
			push(fake, "content")
			cacheRestarts(t, test.before(fake), dir, "content")
			fake.Fail(errDown)
			r, c := start(test.now(fake), dir, reload.Options{})
			if err := r.Reload(t.Context()); !strings.Contains(textOf(err), test.err) {
				t.Errorf("Reload returned %v", err)
			}
			is(t, c, test.want)
		})
	}
}
