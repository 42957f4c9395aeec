package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
)

// board is a server of long polls: a request with a wait is answered once the content is
// another one.
type board struct {
	mu      sync.Mutex
	content string
	changed chan struct{} // closed by the next change
	waiting chan struct{} // receives one for each request that waits
}

func newBoard(content string) *board {
	return &board{content: content, changed: make(chan struct{}), waiting: make(chan struct{}, 100)}
}

func (b *board) become(content string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.content = content
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *board) now() (content string, changed chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content, b.changed
}

func (b *board) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, changed := b.now()
	if waits := r.Header.Get("Prefer") == "wait=50"; waits && r.Header.Get("If-None-Match") == boardTag(content) {
		b.waiting <- struct{}{}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
		content, _ = b.now()
	}
	w.Header().Set("ETag", boardTag(content))
	if r.Header.Get("If-None-Match") == boardTag(content) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	io.WriteString(w, content)
}

func boardTag(content string) string { return fmt.Sprintf(`"%x"`, sumOf(content)) }

func TestHTTPWait(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(reload.Source) reload.Source{
		"alone":         func(source reload.Source) reload.Source { return source },
		"in a Cache":    func(source reload.Source) reload.Source { return reload.Cache(source, t.TempDir()) },
		"in a Fallback": func(source reload.Source) reload.Source { return reload.Fallback(source) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard("one")
			c, _ := newTexts()
			source := reload.HTTP(site(t, b.ServeHTTP).URL, reload.HTTPOptions{Wait: 50 * time.Second})
			r := reload.New(c, wrap(source), load, reload.Options{Every: 24 * time.Hour, Logger: quiet})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- r.Run(ctx) }()
			version, err := c.Wait(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, next := range []string{"two", "three", "one"} {
				<-b.waiting
				b.become(next)
				if version, err = c.Wait(ctx, version); err != nil {
					t.Fatal(err)
				}
				is(t, c, next)
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// polled is a server in a bubble, whose answers take their time.
type polled struct {
	answer func(r *http.Request) *http.Response
	takes  time.Duration // a request that waits
	waits  int
	polls  int
}

func (p *polled) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Prefer") == "" && !r.URL.Query().Has("wait") {
		p.polls++
		return p.answer(r), nil
	}
	p.waits++
	timer := time.NewTimer(p.takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return p.answer(r), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func reply(status int, text string, headers ...string) *http.Response {
	response := &http.Response{StatusCode: status, ContentLength: int64(len(text)), Header: make(http.Header), Body: io.NopCloser(strings.NewReader(text))}
	for i := 0; i < len(headers); i += 2 {
		response.Header.Set(headers[i], headers[i+1])
	}
	return response
}

// conditional answers by ETag.
func conditional(r *http.Request) *http.Response {
	if r.Header.Get("If-None-Match") != "" {
		return reply(http.StatusNotModified, "")
	}
	return reply(http.StatusOK, "content", "ETag", `"1"`)
}

// wait runs a Reloader for an hour.
func (p *polled) wait(t *testing.T, options reload.HTTPOptions) (r *reload.Reloader, lines []string) {
	t.Helper()
	c, _ := newTexts()
	options.Client = &http.Client{Transport: p, Timeout: 10 * time.Second}
	options.HeaderTimeout, options.Wait = 5*time.Second, time.Minute
	var warned logs
	r = reload.New(c, reload.HTTP("http://host/data?key=1", options), load, reload.Options{Every: 10 * time.Hour, Logger: warned.logger(slog.LevelWarn)})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	r.Run(ctx)
	return r, warned.all()
}

func TestHTTPWaitsOfAnHour(t *testing.T) {
	number := 0
	for name, test := range map[string]struct {
		server      polled
		least, most int // requests of either kind
	}{
		"a server that waits":                             {polled{answer: conditional, takes: time.Minute}, 55, 61},
		"one that waits for less":                         {polled{answer: conditional, takes: 40 * time.Second}, 80, 91},
		"one that knows no waiting is asked once in Wait": {polled{answer: conditional}, 55, 61},
		"one that knows no conditions either": {polled{answer: func(*http.Request) *http.Response {
			return reply(http.StatusOK, "content", "ETag", `"1"`)
		}}, 55, 61},
		"one without revisions is only polled": {polled{answer: func(*http.Request) *http.Response {
			return reply(http.StatusOK, "content")
		}}, 0, 0},
		"one whose revisions differ each time": {polled{answer: func(*http.Request) *http.Response {
			number++
			return reply(http.StatusOK, "content", "ETag", fmt.Sprintf(`"%d"`, number))
		}}, 55, 75},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &test.server
				r, lines := p.wait(t, reload.HTTPOptions{})
				if p.waits < test.least || p.waits > test.most || p.polls < min(1, test.least) || p.polls > test.most+2 {
					t.Errorf("%d requests wait, and %d polls, want %d to %d", p.waits, p.polls, test.least, test.most)
				}
				if s := r.Status(); s.Version != 1 || test.least > 0 && s.Age() > 2*time.Minute || len(lines) > 0 {
					t.Errorf("the status is %+v, logged was %q", s, lines)
				}
			})
		})
	}
}

func TestHTTPWaitRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for query, want := range map[string]string{"": "key=1 wait=60", "wait=60s": "key=1&wait=60s "} {
			p := &polled{takes: time.Minute}
			seen := map[string]bool{}
			p.answer = func(r *http.Request) *http.Response {
				seen[r.URL.RawQuery+" "+r.Header.Get("Prefer")] = true
				return conditional(r)
			}
			p.wait(t, reload.HTTPOptions{WaitQuery: query})
			if !seen[want] || !seen["key=1 "] || len(seen) != 2 {
				t.Errorf("WaitQuery %q: the requests are %v", query, seen)
			}
		}
	})
	t.Run("a server that never answers is an error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &polled{answer: conditional, takes: 100 * time.Hour}
			// The first load renews a Wait that has begun before it.
			if _, lines := p.wait(t, reload.HTTPOptions{}); p.waits < 1 || p.waits > 2 || len(lines) != 1 || !strings.Contains(lines[0], "no response within 1m5s") {
				t.Errorf("%d requests, logged was %q", p.waits, lines)
			}
		})
	})
	t.Run("another date is something newer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			dates := []string{"Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:19 GMT"}
			p := &polled{takes: time.Minute, answer: func(r *http.Request) *http.Response {
				if r.Header.Get("If-Modified-Since") != "" {
					return reply(http.StatusNotModified, "", "Last-Modified", dates[1])
				}
				return reply(http.StatusOK, "content", "Last-Modified", dates[0])
			}}
			source := reload.HTTP("http://host/", reload.HTTPOptions{Client: &http.Client{Transport: p}, Wait: time.Hour})
			began := time.Now()
			if err := source.(reload.Waiter).Wait(t.Context(), "date "+dates[0]); err != nil || time.Since(began) != time.Minute {
				t.Errorf("Wait returned %v after %v", err, time.Since(began))
			}
		})
	})
	t.Run("Retry-After is obeyed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := &polled{takes: time.Second}
			p.answer = func(r *http.Request) *http.Response {
				if p.waits > 0 {
					return reply(http.StatusServiceUnavailable, "", "Retry-After", "7200")
				}
				return conditional(r)
			}
			c, _ := newTexts()
			source := reload.HTTP("http://host/", reload.HTTPOptions{Client: &http.Client{Transport: p}, Wait: time.Minute})
			r := reload.New(c, source, load, reload.Options{Every: 10 * time.Minute, MaxRetryAfter: 10 * time.Hour, Logger: quiet})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour+59*time.Minute)
			defer cancel()
			r.Run(ctx)
			if p.waits != 1 {
				t.Errorf("%d requests in two hours", p.waits)
			}
		})
	})
}

// TestHTTPWaitPauses has answers at once between those that take their time: only the
// second of them in a row causes a pause.
func TestHTTPWaitPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &polled{answer: func(*http.Request) *http.Response { return reply(http.StatusOK, "content", "ETag", `"2"`) }}
		waiter := reload.HTTP("http://host/", reload.HTTPOptions{Client: &http.Client{Transport: p}, Wait: time.Minute}).(reload.Waiter)
		waits := func(ctx context.Context, want error, takes, after time.Duration) {
			t.Helper()
			p.takes = takes
			began := time.Now()
			if err := waiter.Wait(ctx, `etag "1"`); !errors.Is(err, want) || time.Since(began) != after {
				t.Errorf("an answer that takes %v: Wait returned %v after %v, want %v after %v", takes, err, time.Since(began), want, after)
			}
		}
		waits(t.Context(), nil, 0, 0)
		waits(t.Context(), nil, 5*time.Second, 5*time.Second)
		waits(t.Context(), nil, 0, 0)
		waits(t.Context(), nil, 0, 400*time.Millisecond)
		p.answer = func(*http.Request) *http.Response { return reply(http.StatusNotModified, "") }
		waits(t.Context(), nil, 0, time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		waits(ctx, context.DeadlineExceeded, 0, 10*time.Second)
	})
}

func TestHTTPWaitAsks(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]reload.HTTPOptions{
		" wait=2":   {Wait: 1500 * time.Millisecond},
		"wait=50s ": {Wait: 50 * time.Second, WaitQuery: "wait=50s"},
	} {
		asked := ""
		options.Client = &http.Client{Transport: &polled{answer: func(r *http.Request) *http.Response {
			asked = r.URL.RawQuery + " " + r.Header.Get("Prefer")
			return reply(http.StatusOK, "content", "ETag", `"2"`)
		}}}
		if err := reload.HTTP("http://host/data", options).(reload.Waiter).Wait(t.Context(), `etag "1"`); err != nil || asked != want {
			t.Errorf("the request is %q, want %q; %v", asked, want, err)
		}
	}
}

func TestHTTPWaitMisuse(t *testing.T) {
	t.Parallel()
	impatient := &http.Client{Transport: &http.Transport{ResponseHeaderTimeout: 30 * time.Second}}
	for want, options := range map[string]reload.HTTPOptions{
		"reload: HTTP with a negative HeaderTimeout, StallTimeout, Wait or MaxExpansion":              {Wait: -1},
		"reload: HTTP with a WaitQuery that is no query":                                              {Wait: 1, WaitQuery: "%zz"},
		"reload: HTTP with a Wait that the ResponseHeaderTimeout of the Client's Transport would end": {Wait: 30 * time.Second, Client: impatient},
	} {
		pooltest.WantPanic(t, want, func() { reload.HTTP("http://host", options) })
	}
	if _, ok := reload.HTTP("http://host", reload.HTTPOptions{}).(reload.Waiter); ok {
		t.Error("without Wait, it is a Waiter")
	}
}
