package reload_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// goldenJSON is what programs read after a good load, a refused one and a reader
// that holds the first version.
const goldenJSON = `{
  "source": "fake",
  "state": "refused",
  "revision": "2",
  "version": 2,
  "loaded": "2000-01-01T00:00:01Z",
  "checked": "2000-01-01T00:00:01Z",
  "age_seconds": 60,
  "size_bytes": 6,
  "fetch_seconds": 1,
  "load_seconds": 0,
  "failures": 1,
  "refused": "3",
  "error": "reload: fake: revision \"3\": load: bad row 3 (version 2 stays; not tried again until the revision changes)",
  "failed": "2000-01-01T00:00:01Z",
  "attempts": 3,
  "swaps": 2,
  "total_failures": 1,
  "recent": [
    {
      "outcome": "failed",
      "at": "2000-01-01T00:00:01Z",
      "revision": "3",
      "version": 2,
      "size_bytes": 3,
      "fetch_seconds": 0,
      "load_seconds": 0,
      "error": "reload: fake: revision \"3\": load: bad row 3 (version 2 stays; not tried again until the revision changes)"
    },
    {
      "outcome": "loaded",
      "at": "2000-01-01T00:00:01Z",
      "revision": "2",
      "version": 2,
      "size_bytes": 6,
      "fetch_seconds": 1,
      "load_seconds": 0
    },
    {
      "outcome": "loaded",
      "at": "2000-01-01T00:00:00Z",
      "revision": "1",
      "version": 1,
      "size_bytes": 3,
      "fetch_seconds": 0,
      "load_seconds": 0
    }
  ],
  "pool": {
    "current": 1,
    "held": 1,
    "leaked": 0,
    "live": 3,
    "lost": 0,
    "oldest_retired_seconds": 60,
    "retired": 1,
    "spares": 1
  }
}
`

func TestTheJSONHasTheseFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		push(fake, "one")
		r.Reload(t.Context())
		held := c.Acquire()
		defer c.Release(held)
		push(fake, "second")
		fake.Delay(time.Second)
		r.Reload(t.Context())
		fake.Delay(0)
		push(fake, "bad")
		r.Reload(t.Context())
		synctest.Wait()
		time.Sleep(time.Minute)
		for _, c := range []struct{ target, accept string }{
			{"/status?format=json", browserAccept},
			{"/status", "application/json"},
		} {
			answer := ask(r, http.MethodGet, c.target, c.accept)
			if kind := answer.Header().Get("Content-Type"); kind != "application/json" {
				t.Errorf("%v: it is %s", c, kind)
			}
			if got := answer.Body.String(); got != goldenJSON {
				t.Errorf("%v: the JSON is\n%s\nwant\n%s", c, got, goldenJSON)
			}
		}
	})
}

func TestABrowserThatTakesJSONTooGetsThePage(t *testing.T) {
	r, _, _ := faked(reload.Options{})
	if kind := ask(r, http.MethodGet, "/status", "text/html, application/json").Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Errorf("it gets %s", kind)
	}
}

func TestOnlyGetAndHeadAreServed(t *testing.T) {
	r, _, _ := faked(reload.Options{})
	server := httptest.NewServer(r)
	defer server.Close()
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodPut: 405, http.MethodDelete: 405} {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want {
			t.Errorf("%s: status %d, want %d", method, answer.StatusCode, want)
		}
		if want == 405 && answer.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow is %q", method, answer.Header.Get("Allow"))
		}
		if (len(body) > 0) != (method != http.MethodHead) {
			t.Errorf("%s: a body of %d bytes", method, len(body))
		}
	}
	if n := r.Status().Attempts; n != 0 {
		t.Errorf("requests made %d attempts", n)
	}
}

func TestNeitherPageNorJSONShowsTheSecretsOfAURL(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no licence for "+r.URL.String(), http.StatusForbidden)
	}))
	defer server.Close()
	address := strings.Replace(server.URL, "://", "://ann:p4ssw0rd@", 1) + "/db?licence_key=4711-0815"
	for _, down := range []bool{false, true} {
		if down {
			server.Close()
		}
		c, _ := newTexts()
		r := reload.New(c, reload.HTTP(address, reload.HTTPOptions{}), load, reload.Options{Logger: quiet})
		if err := r.Reload(t.Context()); err == nil {
			t.Fatal("no error")
		}
		for _, target := range []string{"/status", "/status?format=json"} {
			text := ask(r, http.MethodGet, target, browserAccept).Body.String()
			if !strings.Contains(text, "/db") {
				t.Errorf("%s does not name the source", target)
			}
			for _, secret := range []string{"4711-0815", "licence_key", "p4ssw0rd"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s, down %v: it shows %q", target, down, secret)
				}
			}
		}
	}
}

// hostile is a source whose every text is HTML.
type hostile struct{ fail bool }

const script = `<script>alert("1")</script>`

func (*hostile) String() string { return script }

func (h *hostile) Fetch(context.Context, string) (*reload.Content, error) {
	if h.fail {
		return nil, errors.New(script + "\n" + script)
	}
	return &reload.Content{Revision: script, Size: -1, Body: io.NopCloser(strings.NewReader("text"))}, nil
}

func TestHTMLInTextsIsEscaped(t *testing.T) {
	c, _ := newTexts()
	source := new(hostile)
	r := reload.New(c, source, load, reload.Options{Logger: quiet})
	r.Reload(t.Context())
	source.fail = true
	r.Reload(t.Context())
	text := pageOf(t, r)
	if strings.Contains(text, "<script") {
		t.Error("the page has a script")
	}
	// the title and the head, revision, error and its second line, and the last
	// three once more among the events
	if n := strings.Count(text, "&lt;script&gt;"); n != 8 {
		t.Errorf("the page shows %d such texts, want 8", n)
	}
}

func TestThePageLoadsNothing(t *testing.T) {
	r, _, fake := faked(reload.Options{})
	push(fake, "one")
	r.Reload(t.Context())
	answer := ask(r, http.MethodGet, "/status", browserAccept)
	if policy := answer.Header().Get("Content-Security-Policy"); policy != "default-src 'none'; style-src 'unsafe-inline'" {
		t.Errorf("the policy is %q", policy)
	}
	if found := regexp.MustCompile(`(?i)https?:|//|\bsrc=|url\(|@import|<link|<script|<iframe|<img`).FindAllString(answer.Body.String(), -1); len(found) > 0 {
		t.Errorf("the page has %q", found)
	}
	if cached := answer.Header().Get("Cache-Control"); cached != "no-store" {
		t.Errorf("Cache-Control is %q", cached)
	}
}
