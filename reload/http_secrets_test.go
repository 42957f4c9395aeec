package reload_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// secrets must not be seen anywhere. The query has them escaped.
var secrets = []string{"alice-user", "pass/word", "pass%2Fword", "licence key/1", "licence+key%2F1", "licence%20key%2F1", "prefix", "prefix-longer", "of-the-redirect", "bearer-token", "by-prepare", "xlic"}

const (
	secretUser  = "alice-user:pass%2Fword@"
	secretQuery = "?short=prefix&long=prefix-longer&key=licence+key%2F1"
)

// everything returns all that a Reloader shows of itself, and shown: the events and
// logs of its attempts.
func everything(r *reload.Reloader, shown ...any) string {
	all := fmt.Sprintf("%+v %v %v", shown, r.Status(), r.Status().Err)
	for _, format := range []string{"", "json"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?format="+format, http.NoBody))
		all += w.Body.String()
	}
	return all
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	echo := func(status int, format string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			key := r.URL.Query().Get("key")
			w.WriteHeader(status)
			user, password, _ := r.BasicAuth()
			fmt.Fprintf(w, format, r.URL, key, url.QueryEscape(key), r.Header.Get("Authorization"), user, password)
		}
	}
	broken := func(err error) *http.Client {
		return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("%w: GET %s for %v", err, r.URL, r.URL.User)
		})}
	}
	refused := errors.New("connection refused")
	tests := map[string]struct {
		handler http.HandlerFunc
		client  *http.Client
		address func(plain string) string // nil: with all secrets
		prepare func(*http.Request) error
		options reload.HTTPOptions
		want    string // a part of the error
		is      error
	}{
		"a status whose body echoes all": {handler: echo(403, "url %s key %s escaped %s authorization %s user %s password %s"), want: `status 403 Forbidden, "url`},
		"a body that cuts a secret": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, strings.Repeat("x", 250), r.URL.Query().Get("key"))
		}, want: "xxx"},
		"a transport's error": {client: broken(refused), want: "connection refused: GET http", is: refused},
		"no server":           {address: func(string) string { return "http://" + secretUser + "127.0.0.1:1/data" + secretQuery }, want: "connect"},
		"a redirect loop": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String()+"&t=of-the-redirect", http.StatusFound)
		}, want: "stopped after 10 redirects"},
		"a redirect to nothing": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/?signature=of-the-redirect", http.StatusFound)
		}, want: "connect"},
		"a redirect whose target echoes": {handler: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/data" {
				http.Redirect(w, r, "/signed?signature=of-the-redirect", http.StatusFound)
				return
			}
			echo(410, "url %s %s %s %s %s %s")(w, r)
		}, want: "status 410 Gone"},
		"a redirect to no URL": {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://%zz/"+r.URL.RawQuery)
			w.WriteHeader(http.StatusFound)
		}, want: "Location"},
		"a redirect that is refused": {handler: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/signed?signature=of-the-redirect", http.StatusFound)
		}, client: &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
			return fmt.Errorf("not from %s to %s", via[0].URL, r.URL)
		}}, want: "not from http"},
		"Prepare fails": {prepare: func(r *http.Request) error { return fmt.Errorf("%w for %s", refused, r.URL) }, want: "HTTPOptions.Prepare: connection refused for", is: refused},
		"Prepare fails with a client's error": {prepare: func(r *http.Request) error {
			return fmt.Errorf("no token: %w", &url.Error{Op: "Get", URL: r.URL.String(), Err: refused})
		}, want: "HTTPOptions.Prepare: no token: Get", is: refused},
		"credentials of Prepare": {prepare: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer bearer-token")
			r.URL.RawQuery = "token=by-prepare"
			return nil
		}, handler: echo(401, "url %s key %s escaped %s authorization %s user %s password %s"), want: "status 401"},
		"no answer": {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, options: reload.HTTPOptions{HeaderTimeout: time.Millisecond}, want: "no response within 1ms"},
		"a body that is cut": {handler: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "half")
		}, want: "unexpected EOF"},
		"a body whose error says it": {client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, ContentLength: 9, Body: io.NopCloser(io.MultiReader(strings.NewReader("half"), failing{fmt.Errorf("%w: %s", refused, r.URL)}))}, nil
		})}, want: "read: connection refused: http", is: refused},
		"no TLS there":     {address: func(plain string) string { return strings.Replace(plain, "http:", "https:", 1) }, want: "server gave HTTP response to HTTPS client"},
		"a Client.Timeout": {handler: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, client: &http.Client{Timeout: time.Millisecond}, want: "Client.Timeout exceeded"},
		"an untrusted certificate": {client: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: errors.New("untrusted")}
		})}, want: "untrusted"},
		"a header that cannot be sent": {prepare: func(r *http.Request) error { r.Header.Set("X-Licence", "a\nb"); return nil }, want: `invalid header field value for "X-Licence"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.handler == nil {
				test.handler = echo(500, "url %s %s %s %s %s %s")
			}
			plain := strings.Replace(site(t, test.handler).URL, "http://", "http://"+secretUser, 1) + "/data" + secretQuery
			if test.address != nil {
				plain = test.address(plain)
			}
			test.options.Client, test.options.Prepare = test.client, test.prepare
			lines, events := new(logs), []any(nil)
			r, _ := fromHTTP(plain, test.options, reload.Options{
				Logger:  lines.logger(slog.LevelDebug),
				Observe: func(e reload.Event) { events = append(events, e, e.Err) },
			})
			err := r.Reload(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("the error is %v, want one with %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("the cause of %v is lost", err)
			}
			all := everything(r, append(events, err, lines.all())...)
			for _, secret := range secrets {
				if strings.Contains(all, secret) {
					t.Errorf("%q is in\n%s", secret, all)
				}
			}
			if !strings.Contains(all, "/data") {
				t.Errorf("the path is not in\n%s", all)
			}
		})
	}
}

// failing is an io.Reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestSecretsKeepHTTPError(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "quota of "+r.URL.Query().Get("key")+" is used up", http.StatusTooManyRequests)
	})
	_, err := reload.HTTP(s.URL+"/data?key=licence-key", reload.HTTPOptions{}).Fetch(t.Context(), "")
	var status *reload.HTTPError
	if !errors.As(err, &status) || status.After != time.Minute || status.Body != "quota of … is used up\n" {
		t.Errorf("the error is %v", err)
	}
}

// Secrets that Prepare adds are hidden like those of the URL, however a server
// quotes them.
func TestSecretsOfPrepare(t *testing.T) {
	t.Parallel()
	s := site(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no licence for "+r.URL.Query().Get("key")+", "+r.URL.Query().Get("pin")+", "+r.Header.Get("Cookie"), http.StatusForbidden)
	})
	r, _ := fromHTTP(s.URL+"/data", reload.HTTPOptions{Prepare: func(request *http.Request) error {
		request.URL.RawQuery = "key=ab%2Fcd%20ef&pin=q7z9"
		request.Header.Set("Cookie", "session=xyzzy")
		return nil
	}}, reload.Options{})
	text := failsWith(t, r, reload.Fetching).Error()
	for _, secret := range []string{"ab/cd ef", "q7z9", "xyzzy"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q shows %q", text, secret)
		}
	}
	if !strings.Contains(text, "no licence for") {
		t.Errorf("%q does not say how the body begins", text)
	}
}

// The secrets that Prepare puts into the URL and that a cookie jar sends stay
// secrets after a redirect.
func TestSecretsOfRedirects(t *testing.T) {
	t.Parallel()
	server := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/login":
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "c00kie-of-jar", Path: "/"})
			http.Redirect(w, r, "/step?signature=of-the-step", http.StatusFound)
		case "/step":
			http.Redirect(w, r, "/denied", http.StatusTemporaryRedirect)
		default:
			session, _ := r.Cookie("session")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "denied: key k3y-in-query, signature of-the-step, session %s, password pa55word", session.Value)
		}
	})
	jar, _ := cookiejar.New(nil)
	r, _ := fromHTTP(server.URL+"/login", reload.HTTPOptions{
		Client: &http.Client{Jar: jar},
		Prepare: func(r *http.Request) error {
			r.URL.RawQuery = "key=k3y-in-query"
			r.SetBasicAuth("user", "pa55word")
			return nil
		},
	}, reload.Options{})
	failure := failsWith(t, r, reload.Fetching)
	if !strings.Contains(failure.Error(), "denied: key …") {
		t.Error(failure)
	}
	shown := everything(r, failure)
	for _, secret := range []string{"k3y-in-query", "of-the-step", "c00kie-of-jar", "pa55word"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

// A panic of Prepare is shown like its error.
func TestSecretsOfPanic(t *testing.T) {
	t.Parallel()
	r, _ := fromHTTP("http://127.0.0.1:1/db?key=k3y-in-query", reload.HTTPOptions{Prepare: func(r *http.Request) error {
		r.Header.Set("X-Api-Key", "k3y-of-the-api")
		panic("no signer for " + r.URL.String() + " and k3y-of-the-api")
	}}, reload.Options{})
	failure := failsWith(t, r, reload.Fetching)
	shown := everything(r, failure)
	if !strings.Contains(shown, "panic: no signer for http://127.0.0.1:1/db?… and …") {
		t.Error(failure)
	}
	for _, secret := range []string{"k3y-in-query", "k3y-of-the-api"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

func TestSecretsInTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no /%zz/blob?X-Sig=S1GNATURE here":                "no /%zz/blob?… here",
		`"../blob?X-Sig=S1GNATURE"`:                        `"../blob?…"`,
		"blob?S1GNATURE":                                   "blob?…",
		"?S1GNATURE":                                       "?…",
		"<?sig=S1GNATURE>; rel=next":                       "<?…>; rel=next",
		"//host/path?x=S1GNATURE&y=1#z":                    "//host/path?…",
		"//alice:S1GNATURE@host/path":                      "//…@host/path",
		"//alice:S1G@NATURE@host/path":                     "//…@host/path",
		"//alice:S1G/NATURE@host/path":                     "//…@host/path",
		`"https:\/\/alice:S1GNATURE@host\/path"`:           `"https:\/\/…@host\/path"`,
		"host/path?x=S1GNATURE":                            "host/path?…",
		"https://host/path?x=O'S1GNATURE":                  "https://host/path?…",
		`{"url":"https:\/\/host\/path?x=S1GNATURE","n":1}`: `{"url":"https:\/\/host\/path?…","n":1}`,
		"<a href='/path?x=S1GNATURE'>there</a>":            "<a href='/path?…>there</a>",
		"/path?подпись":                                    "/path?…",

		"what is this?":                                        "what is this?",
		"what is this?\nThat.":                                 "what is this?\nThat.",
		`"why?", he asked (really?!). "who?"`:                  `"why?", he asked (really?!). "who?"`,
		"<p>Lost?</p>":                                         "<p>Lost?</p>",
		"bob@example.com // carol@host":                        "bob@example.com // carol@host",
		`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error>": `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error>",
	} {
		s := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, text)
		})
		_, err := reload.HTTP(s.URL, reload.HTTPOptions{}).Fetch(t.Context(), "")
		var status *reload.HTTPError
		if !errors.As(err, &status) || status.Body != want {
			t.Errorf("of %q is shown %v, want %q", text, err, want)
		}
	}
}

func TestSecretsOfMalformedRedirect(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"/%zz/blob", "%zz", "//ho%zzst/blob", "http://%zz/", "//alice:S1GNATURE@ho%zzst/", ":"} {
		s := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location+"?X-Sig=S1GNATURE")
			w.WriteHeader(http.StatusFound)
		})
		_, err := reload.HTTP(s.URL, reload.HTTPOptions{}).Fetch(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), "Location") || strings.Contains(err.Error(), "S1GNATURE") {
			t.Errorf("a redirect to %q fails with %v", location, err)
		}
	}
}

func TestSecretsNotEscaped(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("no route to %s", r.URL)
	})}
	_, err := reload.HTTP(`http://host/path?key=licence S1G"NATURE`, reload.HTTPOptions{Client: client}).Fetch(t.Context(), "")
	if err == nil || err.Error() != "no route to http://host/path?…" {
		t.Errorf("the error is %v", err)
	}
}

// TestSecretsInResponses has an origin answer with the key in other places.
func TestSecretsInResponses(t *testing.T) {
	t.Parallel()
	const key = "sk=live+falcon"
	for name, test := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"gzip": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusForbidden)
			w.Write(gzipped(t, "no such key: "+key))
		}, `status 403 Forbidden, "no such key: …"`},
		"gzip that is none": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, key)
		}, "status 403 Forbidden"},
		"the escapes of a program": {func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `no such key: sk\x3Dlive\x2bfalcon`)
		}, `status 403 Forbidden, "…"`},
		"an encoding": {
			func(w http.ResponseWriter) { w.Header().Set("Content-Encoding", key) },
			`the response has the Content-Encoding "…", which was not asked for`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site(t, func(w http.ResponseWriter, _ *http.Request) { test.answer(w) })
			prepare := func(r *http.Request) error { r.SetBasicAuth(key, ""); return nil } // as a name without a password
			r, _ := fromHTTP(s.URL, reload.HTTPOptions{Prepare: prepare}, reload.Options{})
			failure := failsWith(t, r, reload.Fetching)
			if got := everything(r, failure); failure.Err.Error() != test.want || strings.Contains(got, "falcon") {
				t.Errorf("the error is %v, want %s: %s", failure.Err, test.want, got)
			}
		})
	}
}
