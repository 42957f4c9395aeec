package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// patience bounds each wait of a test.
const patience = time.Minute

// server is a server of the protocol with a real store, as clients see it.
type server struct {
	t     *testing.T
	store *store.Store
	api   *api.Server
	url   string
	log   *logBuffer
}

// logBuffer keeps the log of a server.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newServer(t *testing.T) *server {
	t.Helper()
	return newServerWith(t, api.Options{})
}

// newServerWith opens a store and serves it.
func newServerWith(t *testing.T, o api.Options) *server {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Reserve: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	log := new(logBuffer)
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	handler := api.New(st, o)
	web, url := serve(t, handler, conforms(t, handler), api.DefaultMaxConns)
	t.Cleanup(func() {
		handler.Drain()
		if err := errors.Join(web.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return &server{t, st, handler, url, log}
}

// serve serves at a listener of n connections.
func serve(t *testing.T, s *api.Server, handler http.Handler, n int) (web *http.Server, url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web = api.NewHTTPServer(s, handler)
	go web.Serve(api.LimitListener(listener.(*net.TCPListener), n))
	return web, "http://" + listener.Addr().String()
}

// token returns the text of a new token.
func (s *server) token(role fleet.Role, names, ids string) string {
	s.t.Helper()
	return s.tokenOf(fleet.Token{Name: "ann", Role: role, Names: names, IDs: ids})
}

func (s *server) tokenOf(token fleet.Token) string {
	s.t.Helper()
	secret, text := access.New(token, "a test", time.Now())
	if err := s.store.PutToken(s.t.Context(), secret); err != nil {
		s.t.Fatal(err)
	}
	s.await("the token", func() bool { _, ok := s.store.Token(secret.ID); return ok })
	return text
}

// await waits until something is so.
func (s *server) await(what string, so func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("after %v, not yet: %s", patience, what)
		}
	}
}

// answer is an answer of the server, read to its end.
type answer struct {
	status int
	header http.Header
	text   string
}

// decode decodes the body of an answer.
func decode[T any](t *testing.T, a answer) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.text), &value); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.text, err)
	}
	return value
}

// do sends a request, and fails the test if there is no answer. headers are names and
// values.
func (s *server) do(token, method, path, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.try(s.t.Context(), token, method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *server) try(ctx context.Context, token, method, path, body string, headers ...string) (answer, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, reader)
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// want sends a request and fails the test unless the answer has a status and, if it is
// an error, a code.
func (s *server) want(status int, code, token, method, path, body string, headers ...string) answer {
	s.t.Helper()
	a := s.do(token, method, path, body, headers...)
	got := ""
	if a.status >= 400 && a.status != http.StatusRequestedRangeNotSatisfiable {
		got = decode[struct{ Code string }](s.t, a).Code
	}
	if a.status != status || got != code {
		s.t.Fatalf("%s %s: %d %q, want %d %q: %s", method, path, a.status, got, status, code, a.text)
	}
	return a
}

// publish stores a text and makes it stable.
func (s *server) publish(name, text string) (fleet.Revision, *fleet.Plan) {
	s.t.Helper()
	admin := s.token(fleet.AdminRole, "*", "")
	r := decode[fleet.Revision](s.t, s.want(201, "", admin, "POST", "/v1/names/"+name+"/revisions", text))
	a := s.want(200, "", admin, "PATCH", "/v1/names/"+name+"/plan", `{"kind":"publish","revision":"`+r.ID+`"}`)
	return r, decode[*fleet.Plan](s.t, a)
}

// raw sends bytes on a connection and returns those of all answers until the server
// closes it.
func (s *server) raw(text string) string {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(patience))
	got, err := io.ReadAll(conn)
	if err != nil && len(got) == 0 {
		s.t.Fatalf("%.100q: %v", text, err)
	}
	return string(got)
}
