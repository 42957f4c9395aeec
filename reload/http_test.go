package reload_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
)

// site starts an HTTP server for the time of the test.
func site(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// fromHTTP returns a Reloader of a URL.
func fromHTTP(address string, httpOptions reload.HTTPOptions, options reload.Options) (*reload.Reloader, *texts) {
	c, pool := newTexts()
	if options.Logger == nil {
		options.Logger = quiet
	}
	options.Stats = pool.Stats
	return reload.New(c, reload.HTTP(address, httpOptions), load, options), c
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestHTTPGzip(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a row of the table\n", 1000)
	packed := gzipped(t, text)
	cut := new(atomic.Int64)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("Accept-Encoding is %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("ETag", `W/"packed"`)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(len(packed)-int(cut.Load())))
		w.Write(packed[:len(packed)-int(cut.Load())])
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{MaxBytes: int64(len(text))})
	for _, missing := range []int64{int64(len(packed)) / 2, 1, 8} { // 8: the trailer of gzip
		cut.Store(missing)
		if failure := failsWith(t, r, reload.Reading); failure.Refused || !errors.Is(failure, io.ErrUnexpectedEOF) {
			t.Errorf("without %d bytes: %v", missing, failure)
		}
		is(t, c, "")
	}
	cut.Store(0)
	succeeds(t, r, c, text)

	r, c = fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{MaxBytes: int64(len(text)) - 1})
	if failure := failsWith(t, r, reload.Reading); !failure.Refused { // MaxBytes counts decompressed bytes
		t.Error(failure)
	}
	is(t, c, "")
}

func TestHTTPConditions(t *testing.T) {
	t.Parallel()
	const date = "Tue, 14 Nov 2023 22:13:20 GMT"
	for name, test := range map[string]struct {
		etag, modified   string
		revision         string
		noneMatch, since string // of the second request
		second           reload.Outcome
	}{
		"strong ETag":            {`"abc"`, "", `etag "abc"`, `"abc"`, "", reload.NotModified},
		"weak ETag":              {`W/"abc"`, "", `etag W/"abc"`, `W/"abc"`, "", reload.NotModified},
		"Last-Modified":          {"", date, "date " + date, "", date, reload.NotModified},
		"both":                   {`"abc"`, date, `etag "abc"`, `"abc"`, "", reload.NotModified},
		"neither":                {"", "", "", "", "", reload.Unchanged},
		"a date that is no date": {"", "yesterday", "", "", "", reload.Unchanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := make(chan http.Header, 2)
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				requests <- r.Header
				for key, value := range map[string]string{"ETag": test.etag, "Last-Modified": test.modified} {
					if value != "" {
						w.Header().Set(key, value)
					}
				}
				if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				fmt.Fprint(w, "content")
			})
			var outcome reload.Outcome
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{Observe: func(e reload.Event) { outcome = e.Outcome }})
			succeeds(t, r, c, "content")
			if first := <-requests; first.Get("If-None-Match") != "" || first.Get("If-Modified-Since") != "" {
				t.Errorf("the first request is conditional: %v", first)
			}
			if s := r.Status(); s.Revision != test.revision || !s.Modified.IsZero() != (test.modified == date) {
				t.Errorf("revision %q of %v, want %q", s.Revision, s.Modified, test.revision)
			}
			succeeds(t, r, c, "content")
			if second := <-requests; second.Get("If-None-Match") != test.noneMatch || second.Get("If-Modified-Since") != test.since {
				t.Errorf("the second request has %v", second)
			}
			if outcome != test.second {
				t.Errorf("the second attempt is %q, want %q", outcome, test.second)
			}
		})
	}
}

func TestHTTPNotModifiedUnasked(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	source := reload.HTTP(s.URL, reload.HTTPOptions{})
	for _, have := range []string{"", "of another source"} {
		var status *reload.HTTPError
		if content, err := source.Fetch(t.Context(), have); !errors.As(err, &status) || status.Status != 304 || content != nil {
			t.Errorf("Fetch(%q) returned %v and %v", have, content, err)
		}
	}
	if _, err := source.Fetch(t.Context(), `etag "abc"`); err != reload.ErrNotModified {
		t.Error(err)
	}
}

func TestHTTPError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status  int
		body    string
		text    string
		retry   string
		retryIn time.Duration
	}{
		"without a body":           {status: 403, text: "status 403 Forbidden"},
		"with a body":              {status: 404, body: "no such edition\n", text: `status 404 Not Found, "no such edition\n"`},
		"with a long body":         {status: 500, body: strings.Repeat("x", 10_000), text: `status 500 Internal Server Error, "` + strings.Repeat("x", 256) + `"`},
		"a success without body":   {status: 204, text: "status 204 No Content"},
		"a part":                   {status: 206, body: "part", text: `status 206 Partial Content, "part"`},
		"of no name":               {status: 599, text: "status 599 "},
		"Retry-After in seconds":   {status: 429, text: "status 429 Too Many Requests", retry: "120", retryIn: 2 * time.Minute},
		"Retry-After of nonsense":  {status: 503, text: "status 503 Service Unavailable", retry: "soon"},
		"Retry-After below zero":   {status: 503, text: "status 503 Service Unavailable", retry: "-5"},
		"Retry-After that is past": {status: 503, text: "status 503 Service Unavailable", retry: "Tue, 14 Nov 2023 22:13:20 GMT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				if test.retry != "" {
					w.Header().Set("Retry-After", test.retry)
				}
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			r, _ := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			failure := failsWith(t, r, reload.Fetching)
			var status *reload.HTTPError
			if !errors.As(failure, &status) || status.Error() != test.text || status.Status != test.status || status.RetryAfter() != test.retryIn {
				t.Errorf("%v, to be asked again after %v; want %s, %v", failure, status.RetryAfter(), test.text, test.retryIn)
			}
			if failure.Refused || failure.Revision != "" {
				t.Errorf("the error is %+v", failure)
			}
		})
	}
}

func TestHTTPRetryAfterDate(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", at.UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	most := time.Until(at)
	_, err := reload.HTTP(s.URL, reload.HTTPOptions{}).Fetch(t.Context(), "")
	least := time.Until(at)
	var status *reload.HTTPError
	if !errors.As(err, &status) || status.After < least || status.After > most {
		t.Errorf("%v, after %v, want %v to %v", err, status.After, least, most)
	}
}

func TestHTTPPanics(t *testing.T) {
	t.Parallel()
	const noURL = "reload: HTTP with an address that is no http or https URL with a host"
	for _, address := range []string{"", "/file", "ftp://host/file", "host/file", "http://", "http://:80/", "http://ho st/", "https:host"} {
		pooltest.WantPanic(t, noURL, func() { reload.HTTP(address, reload.HTTPOptions{}) })
	}
	for _, options := range []reload.HTTPOptions{{HeaderTimeout: -1}, {StallTimeout: -1}, {MaxExpansion: -1}} {
		pooltest.WantPanic(t, "reload: HTTP with a negative HeaderTimeout, StallTimeout, Wait or MaxExpansion", func() { reload.HTTP("http://host/", options) })
	}
}

func TestHTTPClientAndPrepare(t *testing.T) {
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

func TestHTTPConnections(t *testing.T) {
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

// The ctx of a request ends with its attempt: Run's lives long, and would hold
// each of them.
func TestHTTPRequestContext(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.WriteHeader(status)
		if status == http.StatusOK {
			io.WriteString(w, "content")
		}
	})
	var last context.Context
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Prepare: func(request *http.Request) error {
		last = request.Context() //nolint:fatcontext // to be looked at after the request
		return nil
	}}, reload.Options{})
	succeeds(t, r, c, "content")
	if last.Err() == nil {
		t.Error("after a transfer it has not ended")
	}
	status = http.StatusNotModified
	succeeds(t, r, c, "content")
	if last.Err() == nil {
		t.Error("after status 304 it has not ended")
	}
	status = http.StatusNotFound
	failsWith(t, r, reload.Fetching)
	if last.Err() == nil {
		t.Error("after status 404 it has not ended")
	}
}

// TestRevisionOfManyContents has an origin give a revision that stands for content
// that it never sent. Once it is honest, its first answer is believed.
func TestRevisionOfManyContents(t *testing.T) {
	t.Parallel()
	year := func(year int) string { return time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC).Format(http.TimeFormat) }
	for name, test := range map[string]struct{ header, value, revision string }{
		"a tag for everything":      {"ETag", "*", ""},
		"a list of tags":            {"ETag", `"1", "2", "3"`, ""},
		"a list without quotes":     {"ETag", "1,2,3", ""},
		"a tag":                     {"ETag", `"1"`, `etag "1"`},
		"a weak tag":                {"ETag", `W/"1, *"`, `etag W/"1, *"`},
		"a tag without quotes":      {"ETag", "1", "etag 1"},
		"a long date":               {"Last-Modified", strings.Replace(year(2020), "05 ", "05."+strings.Repeat("0", 5000)+" ", 1), ""},
		"a date of the future":      {"Last-Modified", year(9999), "date " + year(9999)},
		"the date of newer content": {"Last-Modified", year(2024), "date " + year(2024)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			honest := false
			s := site(t, func(w http.ResponseWriter, r *http.Request) {
				if !honest {
					w.Header().Set(test.header, test.value)
					fmt.Fprint(w, "a lie")
					return
				}
				if test.header == "ETag" {
					w.Header().Set("ETag", `"2"`)
				}
				http.ServeContent(w, r, "", time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader("the truth"))
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			succeeds(t, r, c, "a lie")
			if got := r.Status().Revision; got != test.revision {
				t.Errorf("the revision is %.60q, want %q", got, test.revision)
			}
			honest = true
			succeeds(t, r, c, "the truth")
		})
	}
}

// TestRestoredContentOfHTTP has the origin go back to older content. Its dates are
// compared by order, so it says that nothing was modified.
func TestRestoredContentOfHTTP(t *testing.T) {
	t.Parallel()
	year, prepared, status := 2024, 0, []int(nil)
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader(fmt.Sprint("of ", year)))
		status = append(status, len(r.Header["If-Modified-Since"]))
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{Prepare: func(*http.Request) error { prepared++; return nil }}, reload.Options{})
	succeeds(t, r, c, "of 2024")
	succeeds(t, r, c, "of 2024")
	year = 2023
	succeeds(t, r, c, "of 2023")
	succeeds(t, r, c, "of 2023")
	if fmt.Sprint(status) != "[0 1 1 0 1]" || prepared != 4 {
		t.Errorf("the requests have %v conditions, and Prepare was called %d times", status, prepared)
	}
}
