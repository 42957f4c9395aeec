package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestRedirectsAreFollowed(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "/signed?token=of-the-redirect", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop?token=of-the-redirect", http.StatusFound)
		case "/signed":
			if r.Header.Get("If-None-Match") == `"one"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("ETag", `"one"`)
			fmt.Fprint(w, "content")
		}
	})
	var outcome reload.Outcome
	r, c := fromHTTP(s.URL+"/start", reload.HTTPOptions{}, reload.Options{Observe: func(e reload.Event) { outcome = e.Outcome }})
	succeeds(t, r, c, "content")
	succeeds(t, r, c, "content")
	if outcome != reload.NotModified {
		t.Errorf("the condition did not follow the redirect: %s", outcome)
	}
	r, _ = fromHTTP(s.URL+"/loop", reload.HTTPOptions{}, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "stopped after 10 redirects" {
		t.Errorf("the error is %v", failure)
	}
	refuse := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r, _ = fromHTTP(s.URL+"/start", reload.HTTPOptions{Client: refuse}, reload.Options{})
	var status *reload.HTTPError
	if failure := failsWith(t, r, reload.Fetching); !errors.As(failure, &status) || status.Status != http.StatusFound {
		t.Errorf("the error is %v", failure)
	}
}

func TestABodyThatTheServerCutsIsAnError(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"shorter than Content-Length":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"x\"\r\n\r\nhalf",
		"a chunk that ends early":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n64\r\nhalf",
		"chunks without the last one":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\n",
		"chunks that are no chunks":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\nzz\r\n",
		"nothing but the header":        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"x\"\r\n\r\n",
		"no end of the chunked trailer": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"x\"\r\n\r\n4\r\nhalf\r\n0\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := new(atomic.Bool)
			broken.Store(true)
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				if !broken.Load() {
					w.Header().Set("ETag", `"x"`)
					fmt.Fprint(w, "whole")
					return
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				io.WriteString(conn, response)
				conn.Close()
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			for range 2 { // it is fetched again
				if failure := failsWith(t, r, reload.Reading); failure.Refused || failure.Revision != `etag "x"` {
					t.Errorf("the error is %+v", failure)
				}
				is(t, c, "")
			}
			broken.Store(false)
			succeeds(t, r, c, "whole")
		})
	}
}

func TestClientAndPrepareAreUsed(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		fmt.Fprintf(w, "%s:%s %s %s", user, password, r.Header.Get("X-Licence"), r.URL.RawQuery)
	})
	var asked atomic.Int64
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})}
	address := strings.Replace(s.URL, "http://", "http://user:password@", 1) + "/data?edition=lite"
	r, c := fromHTTP(address, reload.HTTPOptions{Client: client, Prepare: func(r *http.Request) error {
		r.Header.Set("X-Licence", "key-1")
		r.Header.Set("If-None-Match", "the Source's own header")
		return nil
	}}, reload.Options{})
	succeeds(t, r, c, "user:password key-1 edition=lite")
	if asked.Load() != 1 {
		t.Errorf("the client made %d requests", asked.Load())
	}

	missing := errors.New("no token")
	r, _ = fromHTTP(s.URL, reload.HTTPOptions{Client: client, Prepare: func(*http.Request) error { return missing }}, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, missing) || failure.Err.Error() != "HTTPOptions.Prepare: no token" {
		t.Errorf("the error is %v", failure)
	}
	if asked.Load() != 1 {
		t.Error("a request was made after Prepare had failed")
	}
}

// roundTrip is an http.RoundTripper that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestACtxThatEndsInTheMiddleEndsTheTransfer(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := newTexts()
	r := reload.New(c, reload.HTTP(s.URL, reload.HTTPOptions{}), func(_ context.Context, _, _ *text, content *reload.Content) error {
		if _, err := io.ReadFull(content.Body, make([]byte, 4)); err != nil {
			return err
		}
		cancel()
		_, err := io.ReadAll(content.Body)
		return err
	}, reload.Options{Logger: quiet})
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Reload returned %v", err)
	}
	is(t, c, "")
	<-gone // the server sees it
	if s := r.Status(); s.Failures != 0 {
		t.Errorf("the status is %+v", s)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	addresses := make(map[string]bool)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true // one request at a time
		w.Header().Set("ETag", `"x"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "content")
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Client: s.Client()}, reload.Options{})
	for range 10 {
		succeeds(t, r, c, "content")
	}
	if len(addresses) != 1 {
		t.Errorf("ten attempts used %d connections", len(addresses))
	}
}
