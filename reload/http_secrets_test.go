package reload_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
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

// everything returns all that a Reloader shows of itself, after attempts of
// which it has logged and observed what is in shown.
func everything(r *reload.Reloader, shown ...any) string {
	all := fmt.Sprintf("%+v %v %v", shown, r.Status(), r.Status().Err)
	for _, format := range []string{"", "json"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?format="+format, http.NoBody))
		all += w.Body.String()
	}
	return all
}

func TestNothingShowsSecrets(t *testing.T) {
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
			return &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(io.MultiReader(strings.NewReader("half"), failing{fmt.Errorf("%w: %s", refused, r.URL)}))}, nil
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

func TestAStatusErrorWithSecretsIsStillOne(t *testing.T) {
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
