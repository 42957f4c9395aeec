package page_test

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// site is a page over a store, which is being served.
type site struct {
	*httptest.Server
	t     *testing.T
	store *store.Store
	page  *page.Page
	log   *bytes.Buffer
}

// newSite returns one. Its options and timeouts can be changed first.
func newSite(t *testing.T, change func(o *page.Options, s *http.Server)) *site {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Reserve: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := &site{Server: httptest.NewUnstartedServer(nil), t: t, store: st, log: &bytes.Buffer{}}
	options := page.Options{
		Store: st, Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Check: func(text string) (fleet.Token, error) { return access.Check(st.Token, text, time.Now()) },
	}
	if change != nil {
		change(&options, s.Config)
	}
	if s.page, err = page.New(options); err != nil {
		t.Fatal(err)
	}
	s.Config.Handler, s.Config.MaxHeaderBytes = s.page, 16<<10
	if options.Secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(func() {
		s.page.Close()
		s.Server.Close()
	})
	return s
}

// token makes a token and returns its id and text.
func (s *site) token(token fleet.Token) (id, text string) {
	s.t.Helper()
	token.Names = cmp.Or(token.Names, "*")
	secret, text := access.New(token, "test", time.Now())
	s.check(s.store.PutToken(s.t.Context(), secret))
	return secret.ID, text
}

// change changes the plan of a name.
func (s *site) change(name, by string, op fleet.Operation) *fleet.Plan {
	s.t.Helper()
	plan, err := steer.Do(s.t.Context(), s.store, name, "", by, op)
	s.check(err)
	return plan
}

// put stores a text and returns its revision.
func (s *site) put(name, text string) string {
	s.t.Helper()
	r, err := s.store.Put(s.t.Context(), name, fleet.Revision{ID: "rev-" + text, Created: time.Now()}, int64(len(text)), strings.NewReader(text))
	s.check(err)
	return r.ID
}

// publish publishes a text and returns its revision.
func (s *site) publish(name, text string) string {
	s.t.Helper()
	id := s.put(name, text)
	s.change(name, "builder", fleet.Operation{Kind: fleet.KindPublish, Revision: id, Why: "because"})
	return id
}

// report makes a replica report, on the plan of now.
func (s *site) report(name string, r fleet.Report) {
	s.t.Helper()
	plan := s.plan(name)
	r.Epoch, r.Seq, r.At, r.Every = plan.Epoch, plan.Seq, time.Now(), time.Hour
	s.check(s.store.Report(s.t.Context(), name, r))
}

func (s *site) plan(name string) *fleet.Plan {
	s.t.Helper()
	plan, err := s.store.Plan(name)
	s.check(err)
	return plan
}

// visitor is a client that keeps cookies and follows no redirect.
type visitor struct {
	*http.Client
	s *site
}

func (s *site) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	s.check(err)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is its own certificate
	s.t.Cleanup(transport.CloseIdleConnections)
	return &visitor{&http.Client{Jar: jar, Timeout: time.Minute, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, s}
}

// member returns a visitor who has logged in, and the id of the token.
func (s *site) member(token fleet.Token) (v *visitor, id string) {
	s.t.Helper()
	id, text := s.token(token)
	v = s.visitor()
	if a := v.logIn(text); a.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("the login ends with %d: %s", a.StatusCode, a.text)
	}
	return v, id
}

// operator returns a visitor who has logged in with an operator's token.
func (s *site) operator(name string) *visitor {
	s.t.Helper()
	v, _ := s.member(fleet.Token{Name: name, Role: fleet.OperatorRole})
	return v
}

func (v *visitor) logIn(token string) *answer {
	v.s.t.Helper()
	return v.post("/login", url.Values{"token": {token}})
}

// answer is a response with its body.
type answer struct {
	*http.Response
	text string
}

func (v *visitor) do(r *http.Request) *answer {
	v.s.t.Helper()
	response, err := v.Do(r)
	v.s.check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	v.s.check(err)
	return &answer{response, string(text)}
}

func (s *site) request(method, path string, form url.Values) *http.Request {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, body)
	s.check(err)
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

// steers sends the form of an operation on a plan.
func (v *visitor) steers(name string, plan *fleet.Plan, do string, more url.Values) *answer {
	v.s.t.Helper()
	form := url.Values{"do": {do}, "plan": {plan.Version()}, "why": {"reason of " + do}}
	for key, values := range more {
		form[key] = values
	}
	return v.post("/steer?name="+url.QueryEscape(name), form)
}

// cookie returns the cookie that the visitor has.
func (v *visitor) cookie() *http.Cookie {
	if cookies := v.Jar.Cookies(v.s.at()); len(cookies) == 1 {
		return cookies[0]
	}
	return nil
}

// at returns the address of the site.
func (s *site) at() *url.URL {
	at, err := url.Parse(s.URL)
	s.check(err)
	return at
}

func (s *site) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// wantTexts fails the test unless a text has others, or does not have those that
// begin with "!".
func wantTexts(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		unwanted, not := strings.CutPrefix(want, "!")
		if strings.Contains(text, unwanted) == not {
			_, body, _ := strings.Cut(text, "</header>")
			t.Errorf("wanted %q in\n%s", want, body)
		}
	}
}

// eventually waits until done reports true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}

// crowd is a store whose replicas of "asn" are others.
type crowd struct {
	page.Store
	replicas []fleet.Report
	reads    atomic.Int64
}

func (c *crowd) Reports(string) []fleet.Report {
	c.reads.Add(1)
	return c.replicas
}

// newCrowd returns a site where "asn" is published, with so many replicas. The third
// and each hundredth after it fails, and a tenth is in eu.
func newCrowd(t *testing.T, n int) (*site, *crowd) {
	t.Helper()
	c := &crowd{}
	for i := range n {
		r := fleet.Report{ID: fmt.Sprintf("replica-%05d", i), Revision: "rev-one", Every: time.Hour, At: time.Now(), Received: time.Now()}
		if i%100 == 2 {
			r.Error = "a bad row"
		}
		if i%10 == 0 {
			r.Labels = map[string]string{"region": "eu"}
		}
		c.replicas = append(c.replicas, r)
	}
	s := newSite(t, func(o *page.Options, _ *http.Server) { o.Store, c.Store = c, o.Store })
	s.publish("asn", "one")
	return s, c
}
