package fleet_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func TestNewClientRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	token := fleet.ClientOptions{Token: "t"}
	for _, c := range []struct {
		name, servers string
		options       fleet.ClientOptions
		want          string
	}{
		{"no URL", "", token, "no https URL"},
		{"a second URL that is empty", "https://a,", token, "URL 2"},
		{"another scheme", "ftp://a", token, "no https URL"},
		{"no host", "https://:80", token, "no https URL"},
		{"a password", "https://me:hush@a", token, "has a user"},
		{"a query", "https://a?key=hush", token, "a query"},
		{"http to another host", "http://fleet.example", token, "in the clear"},
		{"http to a host that looks like this one", "http://127.0.0.1.example", token, "in the clear"},
		{"no token", "https://a", fleet.ClientOptions{}, "one of Token and TokenFile"},
		{"two tokens", "https://a", fleet.ClientOptions{Token: "t", TokenFile: empty}, "one of Token and TokenFile"},
		{"an empty file", "https://a", fleet.ClientOptions{TokenFile: empty}, "not one word"},
		{"a missing file", "https://a", fleet.ClientOptions{TokenFile: empty + "2"}, "no such file"},
		{"a token of two lines", "https://a", fleet.ClientOptions{Token: "hush\nhush"}, "not one word"},
		{"a CA without a certificate", "https://a", fleet.ClientOptions{Token: "t", CAFile: empty}, "no certificate"},
		{"a CA beside a Transport", "https://a", fleet.ClientOptions{Token: "t", CAFile: empty, Transport: network{}}, "both CAFile and Transport"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := fleet.NewClient(c.servers, c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") {
				t.Errorf("the error is %v, want one with %q and no secret", err, c.want)
			}
		})
	}
	for _, servers := range []string{"http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1", "https://a/path, https://b"} {
		if _, err := fleet.NewClient(servers, token); err != nil {
			t.Errorf("%s: %v", servers, err)
		}
	}
	if _, err := fleet.NewClient("http://fleet.example", fleet.ClientOptions{Token: "t", Insecure: true}); err != nil {
		t.Errorf("Insecure: %v", err)
	}
}

// TestTokenStaysSecret lets servers do all they can to make errors show the token, or to
// lead it to another host.
func TestTokenStaysSecret(t *testing.T) {
	var elsewhere atomic.Int32
	thief := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere.Add(1) })
	for name, handler := range map[string]http.HandlerFunc{
		"an error that quotes it": func(w http.ResponseWriter, r *http.Request) {
			refuse(w, 400, r.Header.Get("Authorization"), "it was "+r.Header.Get("Authorization"))
		},
		"a page that quotes it": func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.Header["Authorization"]) },
		"a plan with a time of it": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"change":{"at":"%s"}}`, r.Header.Get("Authorization"))
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://b/?"+r.Header.Get("Authorization"), http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := fleet.NewClient("https://a", fleet.ClientOptions{Token: "secret-token", Transport: network{"a": handler, "b": thief}})
			if err != nil {
				t.Fatal(err)
			}
			_, fetch := source(t, c, fleet.SourceOptions{}).Fetch(t.Context(), "")
			_, _, publish := must(fleet.NewPublisher(c, "asn", fleet.PublisherOptions{})).Publish(t.Context(), strings.NewReader("x"), "")
			for _, err := range []error{fetch, publish} {
				if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "secret") {
					t.Errorf("the error is %#v", err)
				}
			}
			if text := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(text, "secret") {
				t.Errorf("the client is %s", text)
			}
		})
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
}

func TestTokenIsRotated(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old-token")
	c, err := fleet.NewClient("https://a", fleet.ClientOptions{TokenFile: file, Transport: network{"a": s}})
	if err != nil {
		t.Fatal(err)
	}
	f := must(fleet.NewController(c, "asn"))
	var refused *fleet.Error
	if _, err := f.Plan(t.Context()); !errors.As(err, &refused) || refused.Status != 401 || refused.Code != "unauthorized" {
		t.Fatalf("the error is %v, want 401", err)
	}
	write("secret-token")
	if _, err := f.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	write("no longer\none word")
	s.token = "third-token"
	if _, err := f.Plan(t.Context()); !errors.As(err, &refused) || refused.Status != 401 {
		t.Fatalf("the error is %v, want 401", err)
	}
	write("third-token")
	// An upload is sent again, though it was begun.
	if _, _, err := must(fleet.NewPublisher(c, "asn", fleet.PublisherOptions{})).Publish(t.Context(), strings.NewReader("two"), ""); err != nil {
		t.Fatal(err)
	}
}

func TestNextServer(t *testing.T) {
	var asked atomic.Int32
	counted := func(f http.HandlerFunc) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); f(w, r) })
	}
	for name, dead := range map[string]http.Handler{
		"it resets connections": counted(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
		"it does not answer":    counted(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"it is unavailable":     counted(func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "unavailable", "no majority") }),
		"it sends nonsense":     counted(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in") }),
		"it sends no end": counted(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked.Store(0)
				s := newServer()
				s.publish("one", []byte("one"))
				f := must(fleet.NewController(client(t, dead, s), "asn"))
				for range 5 {
					if _, err := f.Plan(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if n := asked.Load(); n > 1 {
					t.Errorf("the dead server was asked %d times, want once at most", n)
				}
				// A change is not lost with the server that began it.
				before := len(s.history)
				if _, err := f.Pause(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				if got := len(s.history) - before; got != 1 {
					t.Errorf("%d changes were made", got)
				}
				both := must(fleet.NewController(client(t, dead, dead), "asn"))
				var failed *fleet.Error
				if _, err := both.Plan(t.Context()); !errors.As(err, &failed) || !strings.Contains(err.Error(), "https://a") || !strings.Contains(err.Error(), "https://b") {
					t.Errorf("the error is %v, want one of both servers", err)
				}
			})
		})
	}
}

// TestChangeIsSentOnceMore lets a server make a change and break before it says so.
func TestChangeIsSentOnceMore(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	var changes atomic.Int32
	deaf := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPatch || changes.Add(1) > 1 {
			s.ServeHTTP(w, r)
			return
		}
		s.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
	_, err := must(fleet.NewController(client(t, deaf, deaf), "asn")).Pause(t.Context(), "")
	if !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), "before:") {
		t.Errorf("the error is %v, want a conflict and the failure before it", err)
	}
	if n := len(s.history); n != 2 {
		t.Errorf("the history has %d changes, want 2", n)
	}
	var made atomic.Int32
	lost := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { made.Add(1); panic(http.ErrAbortHandler) })
	if _, err := client(t, lost, lost).NewToken(t.Context(), fleet.Token{Name: "bob"}); err == nil || made.Load() != 1 {
		t.Errorf("NewToken was sent %d times (%v), want once", made.Load(), err)
	}
}

func TestErrors(t *testing.T) {
	s := newServer()
	c := client(t, s)
	f := must(fleet.NewController(c, "asn"))
	if _, err := f.Plan(t.Context()); !errors.Is(err, fleet.ErrNoPlan) || errors.Is(err, fleet.ErrConflict) {
		t.Errorf("the error is %v, want ErrNoPlan", err)
	}
	s.publish("one", []byte("one"))
	if _, err := f.At(1, 9).Resume(t.Context(), ""); !errors.Is(err, fleet.ErrConflict) || errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("the error is %v, want ErrConflict", err)
	}
	s.on(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "7")
		refuse(w, 429, "too_many", "slow down\n\x1b[31m"+strings.Repeat("x", 5000))
		return true
	})
	_, err := f.Plan(t.Context())
	var limited *fleet.Error
	if !errors.As(err, &limited) || limited.Status != 429 || limited.Code != "too_many" || limited.RetryAfter() != 7*time.Second {
		t.Fatalf("the error is %#v", err)
	}
	if text := err.Error(); len(text) > 1200 || strings.ContainsAny(text, "\n\x1b") || !strings.HasPrefix(text, "fleet: get the plan of asn: https://a: slow down") {
		t.Errorf("the error is %q", text)
	}
	if err := c.RevokeToken(t.Context(), "../names/asn"); err == nil || limited.Status != 429 {
		t.Errorf("the error is %v", err)
	}
	if err := c.RemoveName(t.Context(), "..", ""); err == nil || !strings.Contains(err.Error(), `is ".."`) {
		t.Errorf("the error is %v, want a refusal of the name", err)
	}
}

func TestTLS(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	web := httptest.NewTLSServer(s)
	defer web.Close()
	c, err := fleet.NewClient(web.URL, fleet.ClientOptions{Token: "secret-token"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := must(fleet.NewController(c, "asn")).Plan(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server with an unknown authority: %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = fleet.NewClient(web.URL+"/", fleet.ClientOptions{Token: "secret-token", CAFile: ca}); err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	if _, err := must(fleet.NewController(c, "asn")).Plan(t.Context()); err != nil {
		t.Error(err)
	}
}
