package reload_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// refuseAtOnce is load, but reads no further than it has to.
func refuseAtOnce(ctx context.Context, next, current *text, content *reload.Content) error {
	start := make([]byte, 3)
	if _, err := io.ReadFull(content.Body, start); err != nil || string(start) == "bad" {
		return cmp.Or(err, errBad)
	}
	rest := *content
	rest.Body = io.NopCloser(io.MultiReader(bytes.NewReader(start), content.Body))
	return load(ctx, next, current, &rest)
}

// TestBrokenTransferIsNoBadContent flips a bit on the way, so that load refuses the
// content. The ETag stays, so a refusal would last until the content changes.
func TestBrokenTransferIsNoBadContent(t *testing.T) {
	t.Parallel()
	const content = "cad row" // a bit away from "bad row"
	for name, wrap := range map[string]func(t *testing.T, source, sums reload.Source) reload.Source{
		"the Reloader verifies": func(_ *testing.T, source, sums reload.Source) reload.Source { return reload.VerifySHA256(source, sums) },
		"the content is in a Cache": func(t *testing.T, source, sums reload.Source) reload.Source {
			return reload.Cache(reload.VerifySHA256(source, sums), t.TempDir())
		},
		"the content is in a Join": func(_ *testing.T, source, sums reload.Source) reload.Source {
			return reload.Join(reload.VerifySHA256(source, sums))
		},
		"the transfer was cut short": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var honest atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch w.Header().Set("ETag", `"1"`); {
				case r.URL.Path == "/sum":
					fmt.Fprintf(w, "%x", sumOf(content))
				case honest.Load() && r.Header.Get("If-None-Match") == `"1"`:
					w.WriteHeader(http.StatusNotModified)
				case honest.Load():
					fmt.Fprint(w, content)
				case wrap == nil:
					w.Header().Set("Content-Length", "100")
					fmt.Fprint(w, "bad row")
				default:
					fmt.Fprint(w, "bad row")
				}
			}))
			t.Cleanup(server.Close)
			source := reload.HTTP(server.URL, reload.HTTPOptions{})
			if wrap != nil {
				source = wrap(t, source, reload.HTTP(server.URL+"/sum", reload.HTTPOptions{}))
			}
			c, _ := newTexts()
			r := reload.New(c, source, refuseAtOnce, reload.Options{Logger: quiet})
			if err := r.Reload(t.Context()); err == nil || r.Status().Refused != "" {
				t.Fatalf("%v; refused is %q", err, r.Status().Refused)
			}
			honest.Store(true)
			succeeds(t, r, c, content)
		})
	}
}

// TestUnframedBodyIsRefused hangs up in the middle of a body that has no length, and
// between two members of gzip, where that looks whole.
func TestUnframedBodyIsRefused(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"plain":            "\r\nhalf of the con",
		"a member of gzip": "Content-Encoding: gzip\r\n\r\n" + string(gzipped(t, "half of the con")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, buffered, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				fmt.Fprint(buffered, "HTTP/1.1 200 OK\r\nConnection: close\r\n", answer)
				buffered.Flush()
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "neither a length nor chunks") {
				t.Error(failure)
			}
			is(t, c, "")
			r, c = fromHTTP(s.URL, reload.HTTPOptions{AllowUnframed: true}, reload.Options{})
			succeeds(t, r, c, "half of the con")
		})
	}
}

// TestTricklingBodyIsLeft sends a byte at a time, each before the stall timeout, from the
// start and after a fast first minute.
func TestTricklingBodyIsLeft(t *testing.T) {
	const period = 63 * time.Second // seven bytes after the first
	for first, want := range map[string]struct {
		text  string
		after time.Duration
	}{
		"":                         {"8 bytes of the body came in 1m3s, less than 1024 a second", period},
		strings.Repeat("x", 1<<20): {"7 bytes of the body came in 1m3s, less than 1024 a second", 2 * period},
	} {
		inTime(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, first)
			for r.Context().Err() == nil {
				fmt.Fprint(w, "x")
				http.NewResponseController(w).Flush()
				time.Sleep(9 * time.Second)
			}
		}, func(t *testing.T, client *http.Client) {
			options := reload.Options{MaxBytes: int64(len(first) + 100)} // or else a test that fails takes for ever
			r, c := fromHTTP("http://host/", reload.HTTPOptions{Client: client, StallTimeout: stallTimeout}, options)
			failsAfter(t, r, reload.Reading, want.text, want.after)
			is(t, c, "")
			time.Sleep(10 * time.Second) // the handler sees that the client is gone
		})
	}
}

// TestSwitchedProtocolIsLeft switches to another protocol and says nothing. The body of
// such an answer is the connection, which no context ends.
func TestSwitchedProtocolIsLeft(t *testing.T) {
	inTime(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
		io.Copy(io.Discard, conn) // until the client has gone
	}, func(t *testing.T, client *http.Client) {
		r, _ := fromHTTP("http://host/", reload.HTTPOptions{Client: client}, reload.Options{})
		if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != "status 101 Switching Protocols" {
			t.Error(failure)
		}
	})
}

// TestExpandingBodyIsRefused sends 64 MiB of zeros as 64 KiB of gzip.
func TestExpandingBodyIsRefused(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	packed := gzipped(t, strings.Repeat("\x00", size))
	for name, dir := range map[string]string{"without a Cache": "", "with a Cache": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("ETag", `"1"`)
				w.Header().Set("Content-Encoding", "gzip")
				w.Write(packed)
			})
			reloader := func(options reload.HTTPOptions) (*reload.Reloader, *texts, *int) {
				source, read := reload.HTTP(s.URL, options), new(int)
				if dir != "" {
					source = reload.Cache(source, dir)
				}
				c, _ := newTexts()
				return reload.New(c, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
					n, err := io.Copy(io.Discard, content.Body)
					*read, next.value = int(n), next.value[:0]
					return err
				}, reload.Options{Logger: quiet}), c, read
			}
			r, c, read := reloader(reload.HTTPOptions{})
			err := r.Reload(t.Context())
			if err == nil || !strings.Contains(err.Error(), "MaxExpansion is 200") || *read > 32<<20 || c.Version() != 0 {
				t.Errorf("after %d bytes: %v", *read, err)
			}
			if dir == "" && r.Status().Refused == "" {
				t.Error("it is fetched again")
			}
			r, _, read = reloader(reload.HTTPOptions{MaxExpansion: 2000})
			if err := r.Reload(t.Context()); err != nil || *read != size {
				t.Errorf("%d bytes, %v", *read, err)
			}
		})
	}
}

// TestForeignEncodingIsRefused answers in an encoding that was not asked for.
func TestForeignEncodingIsRefused(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		fmt.Fprint(w, "not the content")
	})
	r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), `Content-Encoding "br"`) {
		t.Error(failure)
	}
	is(t, c, "")
	asks := func(r *http.Request) error { r.Header.Set("Accept-Encoding", "br"); return nil }
	r, c = fromHTTP(s.URL, reload.HTTPOptions{Prepare: asks}, reload.Options{})
	succeeds(t, r, c, "not the content")
}

// TestSecondEncodingIsRefused names two encodings, each in a header of its own.
func TestSecondEncodingIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		encodings []string
		want      string
	}{
		"br after gzip":     {[]string{"gzip", "br"}, ""},
		"br after identity": {[]string{"identity", "br"}, ""},
		"br after nothing":  {[]string{"", "br"}, ""},
		"gzip twice":        {[]string{"gzip", "gzip"}, ""},
		"gzip and nothing":  {[]string{"", "gzip"}, "content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			packed := gzipped(t, "content")
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Encoding"] = test.encodings
				w.Write(packed)
			})
			r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
			if err := r.Reload(t.Context()); (err == nil) != (test.want != "") {
				t.Error(err)
			}
			is(t, c, test.want)
		})
	}
}

// TestETagThatIsNoRevision would fill the status and its log, or could not be kept.
func TestETagThatIsNoRevision(t *testing.T) {
	t.Parallel()
	for name, tag := range map[string]string{"long": strings.Repeat("x", 900_000), "no UTF-8": "caf\xe9"} {
		s := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"`+tag+`"`)
			fmt.Fprint(w, "content")
		})
		r, c := fromHTTP(s.URL, reload.HTTPOptions{}, reload.Options{})
		succeeds(t, r, c, "content")
		if n := len(r.Status().Revision); n != 0 {
			t.Errorf("%s: the revision has %d bytes", name, n)
		}
	}
}

func TestRedirectsThatAreNotFollowed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from, to string
		hosts    []string
		want     string
	}{
		"from https to http":                           {"https://host/", "http://host/list", nil, "a redirect leads from https to http"},
		"from https to http at a listed host":          {"https://host/", "http://cdn/list", []string{"cdn"}, "a redirect leads from https to http"},
		"to a link-local address":                      {"http://host/", "http://169.254.169.254/latest", nil, "a redirect leads to the link-local address 169.254.169.254"},
		"to a link-local address of IPv6":              {"http://host/", "http://[fe80::1]/latest", nil, "a redirect leads to the link-local address [fe80::1]"},
		"to a link-local address in disguise":          {"http://host/", "http://[::ffff:169.254.169.254]/", nil, "a redirect leads to the link-local address [::ffff:169.254.169.254]"},
		"to a link-local address as a number":          {"http://host/", "http://2852039166/latest", nil, "a redirect leads to 2852039166, an address in another form"},
		"to a link-local address in octal":             {"http://host/", "http://0251.0376.0251.0376/", nil, "a redirect leads to 0251.0376.0251.0376, an address in another form"},
		"to a link-local address in hex":               {"http://host/", "http://169.254.0xa9fe./", nil, "a redirect leads to 169.254.0xa9fe., an address in another form"},
		"to a host with a number":                      {"http://host/", "http://cdn.1a/", nil, ""},
		"to a number that is listed":                   {"http://host/", "http://2852039166/", []string{"2852039166"}, ""},
		"to a file":                                    {"http://host/", "file://host/etc/passwd", nil, "a redirect leads to no http or https URL"},
		"to a file at a listed host":                   {"http://host/", "file://cdn/etc/passwd", []string{"cdn"}, "a redirect leads to no http or https URL"},
		"to a host that is not listed":                 {"http://host/", "http://cdn/list", []string{"mirror"}, "a redirect leads to cdn, which is not one of HTTPOptions.RedirectHosts"},
		"to any host with an empty list":               {"http://host/", "http://cdn/list", []string{}, "a redirect leads to cdn, which is not one of HTTPOptions.RedirectHosts"},
		"to another port of a host listed with a port": {"http://host/", "http://cdn:81/list", []string{"cdn:80"}, "a redirect leads to cdn:81, which is not one of HTTPOptions.RedirectHosts"},
		"to any host without a list":                   {"http://host/", "http://cdn/list", nil, ""},
		"to a listed host":                             {"https://host/", "https://cdn:81/list", []string{"cdn"}, ""},
		"to the same host with an empty list":          {"http://host/", "http://host/list", []string{}, ""},
		"from http to https":                           {"http://host/", "https://host/list", nil, ""},
		"to many keys, to look for in each text":       {"http://host/", "http://host/?" + strings.Repeat("key=4711&", 100_000), nil, "a redirect leads to a URL of 900013 bytes, more than 8192"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				response := httptest.NewRecorder()
				if r.URL.String() == test.from {
					response.Header().Set("Location", test.to)
					response.WriteHeader(http.StatusFound)
				} else {
					response.Header().Set("Content-Length", "7")
					fmt.Fprint(response, "content")
				}
				result := response.Result()
				result.Request = r
				return result, nil
			})}
			r, c := fromHTTP(test.from, reload.HTTPOptions{Client: client, RedirectHosts: test.hosts}, reload.Options{})
			if test.want == "" {
				succeeds(t, r, c, "content")
			} else if failure := failsWith(t, r, reload.Fetching); failure.Err.Error() != test.want {
				t.Errorf("the error is %v, want %s", failure.Err, test.want)
			}
		})
	}
}

// TestEscapedSecretsAreHidden has an origin quote the key of a URL in other forms.
func TestEscapedSecretsAreHidden(t *testing.T) {
	t.Parallel()
	const key = `s3<ret & "k3y" of+4711/%`
	lower := func(s string) string {
		return regexp.MustCompile(`%..`).ReplaceAllStringFunc(s, strings.ToLower)
	}
	inJSON, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"HTML":                key,
		"HTML, escaped":       html.EscapeString(key),
		"a template":          template.HTMLEscaper(key),
		"numbers":             strings.NewReplacer("3", "&#51;", "4", "&#x34;").Replace(key),
		"JSON":                string(inJSON),
		"JSON in JSON":        strconv.Quote(string(inJSON)),
		"a query":             url.QueryEscape(key),
		"a query, lower case": lower(url.QueryEscape(key)),
		"a path":              url.PathEscape(key),
		"a path, lower case":  lower(url.PathEscape(key)),
		"escaped twice":       lower(url.PathEscape(url.QueryEscape(key))),
		"a query in HTML":     html.EscapeString("key=" + url.QueryEscape(key) + "&x=1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, "no such key: ", form)
			})
			r, _ := fromHTTP(s.URL+"/?key="+url.QueryEscape(key), reload.HTTPOptions{}, reload.Options{})
			failure := failsWith(t, r, reload.Fetching)
			if text := everything(r, failure); strings.Contains(text, "k3y") || strings.Contains(text, "k&#51;y") || !strings.Contains(text, "403") {
				t.Error(text)
			}
		})
	}
}

// TestContentOfAnotherName serves a list of allowed users, with its signature, in
// the place of the denied ones.
func TestContentOfAnotherName(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	const content = "alice"
	named := func(name string) []byte { return ed25519.Sign(private, reload.Statement(name, sumOf(content))) }
	for name, test := range map[string]struct {
		signature []byte
		dir       string
		passes    bool
	}{
		"of the name":              {named("deny"), "", true},
		"of the name, in a Cache":  {named("deny"), t.TempDir(), true},
		"of another name":          {named("allow"), "", false},
		"of no name":               {signed(private, content), "", false},
		"of a name that begins so": {named("deny\n"), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := new(reloadtest.Fake)
			side.Push(test.signature)
			fake := new(reloadtest.Fake)
			push(fake, content)
			source := reload.VerifySigned(fake, side, "deny", public)
			if test.dir != "" {
				source = reload.Cache(source, test.dir)
			}
			c, _ := newTexts()
			r := reload.New(c, source, load, reload.Options{Logger: quiet})
			if !test.passes {
				failsWith(t, r, reload.Verifying)
				is(t, c, "")
				return
			}
			succeeds(t, r, c, content)
			if test.dir == "" {
				return
			}
			fake.Fail(errDown)
			cacheRestarts(t, reload.VerifySigned(fake, side, "deny", public), test.dir, content)
			r, c = start(reload.VerifySigned(fake, side, "allow", public), test.dir, reload.Options{})
			if err := r.Reload(t.Context()); err == nil || current(c) != "" {
				t.Errorf("content kept under one name was loaded under another: %v", err)
			}
		})
	}
}
