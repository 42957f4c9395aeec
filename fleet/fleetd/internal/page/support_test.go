package page_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

const password = "correct horse"

// site is a page that is being served, over a server of a fleet.
type site struct {
	*httptest.Server
	t    *testing.T
	conn *nats.Conn
	page *page.Page
}

// newSite returns one. Its options and timeouts can be changed first.
func newSite(t *testing.T, change func(o *page.Options, s *http.Server)) *site {
	t.Helper()
	s := &site{t: t, conn: natsConn(t)}
	options := page.Options{Conn: s.conn, Password: password}
	config := &http.Server{}
	if change != nil {
		change(&options, config)
	}
	p, err := page.New(options)
	if err != nil {
		t.Fatal(err)
	}
	s.page, s.Server = p, httptest.NewUnstartedServer(nil)
	s.Config = page.NewServer(p)
	if config.ReadTimeout > 0 {
		s.Config.ReadTimeout, s.Config.WriteTimeout = config.ReadTimeout, config.WriteTimeout
	}
	if options.Secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		p.Close()
		s.Server.Close()
	})
	return s
}

// natsConn returns a connection to a new server.
func natsConn(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{DontListen: true, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not become ready")
	}
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if err := fleet.Setup(t.Context(), conn, fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	return conn
}

// publish publishes a text and returns its revision.
func (s *site) publish(name, text string) string {
	s.t.Helper()
	p, err := fleet.NewPublisher(s.conn, name, fleet.PublisherOptions{By: "builder"})
	if err != nil {
		s.t.Fatal(err)
	}
	r, _, err := p.Publish(s.t.Context(), strings.NewReader(text), "because")
	if err != nil {
		s.t.Fatal(err)
	}
	return r.ID
}

// report makes a replica report that it runs a revision.
func (s *site) report(name, id, revision string) {
	s.t.Helper()
	plan := s.plan(name)
	s.send(name, id, fmt.Sprintf(`{"id":%q,"epoch":%d,"seq":%d,"at":"2026-01-02T03:04:05Z","revision":%q}`, id, plan.Epoch, plan.Seq, revision))
}

// send sends a report of a replica.
func (s *site) send(name, id, text string) {
	s.t.Helper()
	if _, err := s.conn.Request("$KV.poolswap-reports."+name+"."+id, []byte(text), time.Minute); err != nil { // answered once it is stored
		s.t.Fatal(err)
	}
}

func (s *site) plan(name string) *fleet.Plan {
	s.t.Helper()
	c, err := fleet.NewController(s.conn, name, "test")
	if err != nil {
		s.t.Fatal(err)
	}
	status, err := c.Status(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return status.Plan
}

// visitor is a client that keeps cookies and follows no redirect.
type visitor struct {
	*http.Client
	s *site
}

func (s *site) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is its own certificate
	s.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{&http.Client{Jar: jar, Timeout: time.Minute, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// member returns a visitor who has logged in.
func (s *site) member(by string) *visitor {
	s.t.Helper()
	v := s.visitor()
	if a := v.post("/login", url.Values{"by": {by}, "password": {password}}); a.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("the login ends with %d: %s", a.StatusCode, a.text)
	}
	return v
}

// answer is a response with its body.
type answer struct {
	*http.Response
	text string
}

func (v *visitor) do(r *http.Request) *answer {
	v.s.t.Helper()
	response, err := v.Do(r)
	if err != nil {
		v.s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		v.s.t.Fatal(err)
	}
	return &answer{response, string(text)}
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func (v *visitor) get(path string) *answer {
	v.s.t.Helper()
	return v.do(v.s.request(http.MethodGet, path, nil))
}

func (v *visitor) post(path string, form url.Values) *answer {
	v.s.t.Helper()
	return v.do(v.s.request(http.MethodPost, path, form))
}

// steers sends the form of an action on a plan.
func (v *visitor) steers(name string, plan *fleet.Plan, action string, more url.Values) *answer {
	v.s.t.Helper()
	form := url.Values{"do": {action}, "epoch": {strconv.FormatUint(plan.Epoch, 10)}, "seq": {strconv.FormatUint(plan.Seq, 10)}, "why": {"reason of " + action}}
	for key, values := range more {
		form[key] = values
	}
	return v.post("/steer?name="+url.QueryEscape(name), form)
}

// token returns the cookie that the visitor has.
func (v *visitor) token() *http.Cookie {
	v.s.t.Helper()
	at, err := url.Parse(v.s.URL)
	if err != nil {
		v.s.t.Fatal(err)
	}
	cookies := v.Jar.Cookies(at)
	if len(cookies) != 1 {
		return nil
	}
	return cookies[0]
}

// eventually waits until done reports true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("it does not come about that %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
