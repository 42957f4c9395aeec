package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// ask returns the answer of ServeHTTP.
func ask(r http.Handler, method, target, accept string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, target, nil)
	request.Header.Set("Accept", accept)
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, request)
	return answer
}

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func pageOf(t *testing.T, r http.Handler) string {
	t.Helper()
	answer := ask(r, http.MethodGet, "/status", browserAccept)
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("status %d, %q", answer.Code, answer.Header())
	}
	return answer.Body.String()
}

var headline = regexp.MustCompile(`<p class="state (\w+)">([^<]*)</p>`)

// headlineOf returns the state and the headline of the page.
func headlineOf(t *testing.T, r http.Handler) string {
	t.Helper()
	found := headline.FindStringSubmatch(pageOf(t, r))
	if found == nil {
		t.Fatal("the page has no headline")
	}
	return found[1] + ": " + found[2]
}

var errRefused = errors.New("connection refused")

// pageTried makes an attempt that finds new content.
func pageTried(r *reload.Reloader, fake *reloadtest.Fake, text string) {
	push(fake, "%s", text)
	r.Reload(context.Background())
}

// pageFailed makes an attempt while the source is down.
func pageFailed(r *reload.Reloader, fake *reloadtest.Fake) {
	fake.Fail(errRefused)
	r.Reload(context.Background())
}

func TestPageHeadline(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(r *reload.Reloader, fake *reloadtest.Fake, c *texts)
		want string
	}{
		{"nothing was tried", func(*reload.Reloader, *reloadtest.Fake, *texts) {}, "empty: Nothing is loaded yet."},
		{"the source is down from the start", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageFailed(r, fake)
		}, "failing: The source cannot be read. Nothing is loaded."},
		{"the first content is bad", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "bad")
		}, "failing: The newest content was refused. Nothing is loaded."},
		{"all is well", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "good")
		}, "fresh: The newest content is loaded."},
		{"the source came back", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageFailed(r, fake)
			pageTried(r, fake, "good")
		}, "fresh: The newest content is loaded."},
		{"the source went down", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "good")
			pageFailed(r, fake)
		}, "stale: The source cannot be read. Version 1 stays."},
		{"a body ends too early", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "good")
			push(fake, "better")
			fake.Truncate(3, nil)
			r.Reload(context.Background())
		}, "stale: The source cannot be read. Version 1 stays."},
		{"new content is bad", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "good")
			pageTried(r, fake, "bad")
			r.Reload(context.Background()) // not modified: still the bad one
		}, "refused: The newest content was refused. Version 1 stays."},
		{"readers hold every object", func(r *reload.Reloader, fake *reloadtest.Fake, c *texts) {
			pageTried(r, fake, "one")
			defer c.Release(c.Acquire())
			pageTried(r, fake, "two")
			pageTried(r, fake, "three")
		}, "stale: There is newer content, but readers hold every object. Version 2 stays."},
		{"another writer is faster", func(r *reload.Reloader, fake *reloadtest.Fake, c *texts) {
			pageTried(r, fake, "conflict")
		}, "failing: The newest content could not be loaded. Nothing is loaded."},
		{"new content does not pass its check", func(r *reload.Reloader, fake *reloadtest.Fake, _ *texts) {
			pageTried(r, fake, "unverified")
		}, "failing: The newest content did not pass its check. Nothing is loaded."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, fake, texts := limited()
				c.do(r, fake, texts)
				if got := headlineOf(t, r); got != c.want {
					t.Errorf("the page says %q, want %q", got, c.want)
				}
			})
		})
	}
}

// limited returns a Reloader whose pool has two objects at the most. Verify refuses
// "unverified", and another writer is faster than "conflict".
func limited() (*reload.Reloader, *reloadtest.Fake, *texts) {
	pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{MaxLive: 2})
	c, fake := poolswap.NewEmptyContainer(pool), new(reloadtest.Fake)
	source := sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := fake.Fetch(ctx, have)
		if err == nil {
			content.Verify = func(sum [sha256.Size]byte) error {
				if sum == sumOf("unverified") {
					return errBad
				}
				return nil
			}
		}
		return content, err
	})
	return reload.New(c, source, func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		if string(next.value) == "conflict" {
			c.Update(pool.Get())
		}
		return err
	}, reload.Options{Logger: quiet, Stats: pool.Stats}), fake, c
}

func TestPageOfCache(t *testing.T) {
	dir, fake, _, _ := cacheKept(t, "kept")
	fake.Fail(errRefused)
	r, _ := cacheRestarts(t, fake, dir, "kept")
	if got, want := headlineOf(t, r), "stale: The content is from the cache: the source could not be asked."; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
	if !strings.Contains(pageOf(t, r), "<pre>connection refused</pre>") {
		t.Error("the page does not say why")
	}
	if strings.Contains(pageOf(t, r), "Last known to be the newest") {
		t.Error("the page says that it is known to be the newest")
	}
	push(fake, "bad") // an operator has to know that first
	failsWith(t, r, reload.Loading)
	if got, want := headlineOf(t, r), "refused: The newest content was refused. Version 1 stays."; got != want {
		t.Errorf("the page says %q, want %q", got, want)
	}
}

func TestPageHistory(t *testing.T) {
	r, _, fake := faked(reload.Options{})
	for i := range 25 {
		push(fake, "%d", i)
		r.Reload(t.Context())
		r.Reload(t.Context()) // not modified, so not shown
	}
	text := pageOf(t, r)
	if n := strings.Count(text, "<tbody>"); n != 20 {
		t.Errorf("the page shows %d", n)
	}
	newest, oldest := strings.Index(text, `<div class="revision">25</div>`), strings.Index(text, `<div class="revision">6</div>`)
	if newest < 0 || oldest < newest {
		t.Errorf("the newest is at %d, the oldest at %d", newest, oldest)
	}
}

// A stack is there, but not in the way.
func TestPageStack(t *testing.T) {
	r, _, fake := faked(reload.Options{})
	push(fake, "panic")
	r.Reload(t.Context())
	text := pageOf(t, r)
	if !strings.Contains(text, "<pre>panic: no such column</pre>\n<details><summary>more</summary><pre>goroutine ") {
		t.Error("the page does not begin with the panic, and fold the stack")
	}
}

func TestPageHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c, fake := faked(reload.Options{})
		for held, want := range []string{
			"Readers hold no old version.",
			"Readers hold one old version, for 3 h by now.",
			"Readers hold 2 old versions, the oldest for 6 h by now.",
		} {
			push(fake, "%d", held)
			r.Reload(t.Context())
			time.Sleep(3 * time.Hour)
			if !strings.Contains(pageOf(t, r), "<p>"+want+"</p>") {
				t.Errorf("the page does not say %q", want)
			}
			defer c.Release(c.Acquire())
		}
	})
}

func TestPageTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, fake := faked(reload.Options{})
		push(fake, "one")
		r.Reload(t.Context())
		began := time.Now()
		for _, want := range []struct {
			after time.Duration
			text  string
		}{
			{0, "now"},
			{4300 * time.Millisecond, "4.3 s ago"},
			{75 * time.Second, "75 s ago"},
			{30 * time.Minute, "30 min ago"},
			{30 * time.Hour, "30 h ago"},
			{100 * time.Hour, "4 days ago"},
		} {
			time.Sleep(time.Until(began.Add(want.after)))
			if !strings.Contains(pageOf(t, r), fmt.Sprintf(`<dd>1, loaded <time datetime="2000-01-01T00:00:00Z" title="2000-01-01T00:00:00Z">%s</time>`, want.text)) {
				t.Errorf("after %v the page does not say %q", want.after, want.text)
			}
		}
	})
}

func TestPageRenewal(t *testing.T) {
	r, _, _ := faked(reload.Options{})
	const refresh = `http-equiv="refresh"`
	if !strings.Contains(pageOf(t, r), refresh) {
		t.Error("the page does not renew itself")
	}
	if strings.Contains(ask(r, http.MethodGet, "/status?renew=no", browserAccept).Body.String(), refresh) {
		t.Error("the page goes on")
	}
}

func TestPageMethods(t *testing.T) {
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

func TestPageEscapesHTML(t *testing.T) {
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

func TestPageLoadsNothing(t *testing.T) {
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
