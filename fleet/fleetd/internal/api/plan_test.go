package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/api"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

const planPath = "/v1/names/asn/plan"

func TestPollsWaitForALaterPlan(t *testing.T) {
	s := newServer(t)
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	s.want(404, "no_plan", token, "GET", planPath, "")
	s.want(204, "", token, "GET", planPath+"?after=0.0", "")
	s.want(204, "", token, "GET", planPath+"?after=0.0&wait=20ms", "")

	answers := make(chan answer)
	poll := func(after string) {
		go func() {
			a, err := s.try(t.Context(), token, "GET", planPath+"?after="+after+"&wait=60s", "")
			if err != nil {
				a.text = err.Error()
			}
			answers <- a
		}()
	}
	poll("0.0")
	s.awaitPolls(1)
	_, plan := s.publish("asn", "one")
	first := <-answers
	if got := decode[*fleet.Plan](t, first); first.status != 200 || got.Version() != plan.Version() || first.header.Get("ETag") != `"`+plan.Version()+`"` || first.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the first poll ends with %d %v %s", first.status, first.header, first.text)
	}
	s.want(200, "", token, "GET", planPath, "")
	s.want(200, "", token, "GET", fmt.Sprintf("%s?after=%d.%d&wait=60s", planPath, plan.Epoch, plan.Seq-1), "")
	s.want(200, "", token, "GET", fmt.Sprintf("%s?after=%d.%d&wait=60s", planPath, plan.Epoch-1, plan.Seq+10), "")
	s.want(204, "", token, "GET", fmt.Sprintf("%s?after=%d.%d", planPath, plan.Epoch, plan.Seq), "")
	s.want(204, "", token, "GET", fmt.Sprintf("%s?after=%d.0&wait=10ms", planPath, plan.Epoch+1), "")

	poll(plan.Version())
	s.awaitPolls(1)
	s.want(200, "", s.token(fleet.OperatorRole, "*", ""), "PATCH", planPath, `{"kind":"pause"}`)
	if a := <-answers; a.status != 200 || !decode[*fleet.Plan](t, a).Paused || strings.Contains(a.text, "spread") {
		t.Errorf("the second poll ends with %d %s", a.status, a.text)
	}
	for _, query := range []string{"after=1", "after=1.2.3", "after=x.1", "after=-1.0", "after=01.1", "after=", "after=99999999999999999999.1", "wait=5", "wait=-1s", "wait="} {
		s.want(400, "bad_request", token, "GET", planPath+"?"+query, "")
	}
}

// awaitPolls waits until so many polls are open.
func (s *server) awaitPolls(n int) {
	s.t.Helper()
	line := fmt.Sprintf("fleetd_open_polls %d\n", n)
	s.await(line, func() bool { return strings.Contains(s.metrics(), line) })
}

func (s *server) metrics() string {
	w := httptest.NewRecorder()
	s.api.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestPollEndsWithItsTokenItsClientAndTheServer(t *testing.T) {
	s := newServer(t)
	_, plan := s.publish("asn", "one")
	path := planPath + "?wait=60s&after=" + plan.Version()
	token := s.token(fleet.ReplicaRole, "asn", "r1")
	ended := make(chan answer)
	poll := func(ctx context.Context) {
		go func() {
			a, err := s.try(ctx, token, "GET", path, "")
			if err != nil {
				a.text = err.Error()
			}
			ended <- a
		}()
		s.awaitPolls(1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	poll(ctx)
	cancel()
	<-ended
	s.awaitPolls(0)

	poll(t.Context())
	if err := s.store.DeleteToken(t.Context(), strings.Split(token, "_")[1]); err != nil {
		t.Fatal(err)
	}
	s.await("the token is gone", func() bool { _, ok := s.store.Token(strings.Split(token, "_")[1]); return !ok })
	s.want(200, "", s.token(fleet.OperatorRole, "*", ""), "PATCH", planPath, `{"kind":"pause"}`)
	if a := <-ended; a.status != 401 {
		t.Errorf("a poll of a token that was revoked meanwhile ends with %d %s", a.status, a.text)
	}
	token = s.token(fleet.ReplicaRole, "asn", "r1")
	path = planPath + "?wait=60s&after=" + fmt.Sprintf("%d.%d", plan.Epoch, plan.Seq+1)
	poll(t.Context())
	begin := time.Now()
	s.api.Drain()
	if a := <-ended; a.status != 204 || time.Since(begin) > api.MaxWait/2 {
		t.Errorf("at the end of the server a poll ends with %d %s, after %v", a.status, a.text, time.Since(begin))
	}
	s.want(503, "unavailable", "", "GET", "/readyz", "")
	s.want(200, "", "", "GET", "/healthz", "")
}

// TestTenThousandPollsWakeAtOnce wakes polls that have no connection, so that the
// allocations are those of the server.
func TestTenThousandPollsWakeAtOnce(t *testing.T) {
	s := newServer(t)
	_, plan := s.publish("asn", strings.Repeat("one", 1000))
	token := s.token(fleet.ReplicaRole, "asn", "r*")
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	var done sync.WaitGroup
	bodies := make([]*countedBody, n)
	for i := range n {
		r := httptest.NewRequest(http.MethodGet, planPath+"?wait=60s&after="+plan.Version(), nil)
		r.Header.Set("Authorization", "Bearer "+token)
		bodies[i] = &countedBody{header: http.Header{}}
		done.Go(func() { s.api.ServeHTTP(bodies[i], r) })
	}
	s.awaitPolls(n)
	spread := time.Duration(n) * 2 * time.Millisecond
	var told fleet.Plan
	if text := s.want(200, "", token, "GET", planPath, "").text; json.Unmarshal([]byte(text), &told) != nil || told.Spread < spread/2 || told.Spread > spread {
		t.Errorf("a replica that starts is told to spread over %v, want %v, or half of that", told.Spread, spread)
	}
	admin := s.token(fleet.AdminRole, "*", "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	s.want(200, "", admin, "PATCH", planPath, `{"kind":"pause"}`)
	done.Wait()
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	t.Logf("%d polls woke within %v, with %d bytes and %d objects each", n, took, each, (after.Mallocs-before.Mallocs)/uint64(n))
	if each > 2000 { // and a plan has 1000
		t.Errorf("each poll allocates %d bytes as it wakes", each)
	}
	want := fmt.Sprintf(`"spread_ns":%d`, spread)
	if text := s.want(200, "", token, "GET", planPath, "").text; !strings.Contains(text, want) {
		t.Errorf("%d replicas that waited are not told to spread, %s: %s", n, want, text)
	}
	for _, b := range bodies {
		if b.status != 200 || b.body != bodies[0].body {
			t.Fatalf("an answer is %d, at %p, and another at %p: it was encoded twice", b.status, b.body, bodies[0].body)
		}
	}
}

// countedBody is a ResponseWriter that keeps where the bytes of its body are.
type countedBody struct {
	header http.Header
	status int
	body   *byte
}

func (c *countedBody) Header() http.Header    { return c.header }
func (c *countedBody) WriteHeader(status int) { c.status = status }

func (c *countedBody) Write(p []byte) (int, error) {
	c.body = &p[0]
	return len(p), nil
}

func TestChangesAreComparedAndSet(t *testing.T) {
	s := newServer(t)
	token := s.tokenOf(fleet.Token{Name: "ann", Role: fleet.OperatorRole, Names: "*"})
	r := decode[fleet.Revision](t, s.want(201, "", token, "POST", "/v1/names/asn/revisions", "one"))
	publish := fmt.Sprintf(`{"kind":"publish","revision":%q,"why":"a \"why\"\nwith two lines"}`, r.ID)
	s.want(412, "conflict", token, "PATCH", planPath, publish, "If-Match", `"1.1"`)
	a := s.want(200, "", token, "PATCH", planPath, publish, "If-Match", `"0.0"`)
	plan := decode[*fleet.Plan](t, a)
	if plan.Stable != r.ID || plan.Change.By != "ann" || plan.Change.Kind != fleet.KindPublish || a.header.Get("ETag") != `"`+plan.Version()+`"` {
		t.Errorf("the plan is %s", a.text)
	}
	s.want(412, "conflict", token, "PATCH", planPath, publish, "If-Match", `"0.0"`)
	s.want(200, "", token, "PATCH", planPath, `{"kind":"pause"}`, "If-Match", a.header.Get("ETag"))
	s.want(412, "conflict", token, "PATCH", planPath, `{"kind":"resume"}`, "If-Match", a.header.Get("ETag"))
	s.want(409, "refused", token, "PATCH", planPath, `{"kind":"pause"}`)
	s.want(409, "refused", token, "PATCH", planPath, `{"kind":"promote"}`)
	s.want(404, "not_found", token, "PATCH", planPath, `{"kind":"publish","revision":"none"}`)
	s.want(404, "no_plan", token, "PATCH", "/v1/names/other/plan", `{"kind":"pause"}`)
	for _, body := range []string{``, `{}`, `{"kind":"publish"}`, `{"kind":"hold"}`, `{"kind":"canary","revision":"x","shares":0.1}`, `{"kind":"pause","why":"` + strings.Repeat("x", fleet.MaxWhy+1) + `"}`} {
		s.want(400, "bad_request", token, "PATCH", planPath, body)
	}
	for _, match := range []string{`1.1`, `"1.1", "1.2"`, `W/"1.1"`, `*`, `""`} {
		s.want(400, "bad_request", token, "PATCH", planPath, `{"kind":"resume"}`, "If-Match", match)
	}
	if log := s.log.String(); !strings.Contains(log, `why="a \"why\"\nwith two lines"`) || !strings.Contains(log, "by=ann") {
		t.Errorf("the log is\n%s", log)
	}
	history := decode[struct{ Changes []fleet.Change }](t, s.want(200, "", token, "GET", "/v1/names/asn/history?limit=1", "")).Changes
	if len(history) != 1 || history[0].Kind != fleet.KindPause {
		t.Errorf("the newest change is %+v", history)
	}
	before := fmt.Sprintf("%d.%d", history[0].Epoch, history[0].Seq)
	if history = decode[struct{ Changes []fleet.Change }](t, s.want(200, "", token, "GET", "/v1/names/asn/history?before="+before, "")).Changes; len(history) != 1 || history[0].Why != "a \"why\"\nwith two lines" {
		t.Errorf("the changes before are %+v", history)
	}
	s.want(400, "bad_request", token, "GET", "/v1/names/asn/history?before=x", "")
}

func TestMirrorsGoWithThePlan(t *testing.T) {
	s := newServerWith(t, api.Options{Mirrors: []string{"https://mirror.example/content/", "https://other.example"}})
	_, patched := s.publish("a%2Fb", "one")
	plan := decode[*fleet.Plan](t, s.want(200, "", s.token(fleet.ReplicaRole, "a/b", "r"), "GET", "/v1/names/a%2Fb/plan", ""))
	const want = "[https://mirror.example/content/a%2Fb https://other.example/a%2Fb]"
	if got := fmt.Sprint(plan.Mirrors); got != want || fmt.Sprint(patched.Mirrors) != want {
		t.Errorf("the mirrors are %s and %s", got, patched.Mirrors)
	}
	if kept, err := s.store.Plan("a/b"); err != nil || len(kept.Mirrors) > 0 {
		t.Errorf("the stored plan is %+v, %v", kept, err)
	}
}

func TestErrorsHaveTheirCodes(t *testing.T) {
	secret := errors.New("a secret path")
	for _, test := range []struct {
		err    error
		status int
		code   string
		after  bool
		says   string
	}{
		{store.ErrUnavailable, 503, "unavailable", true, "asn: "},
		{context.DeadlineExceeded, 503, "unavailable", true, "may still happen"},
		{context.Canceled, 503, "unavailable", true, "may still happen"},
		{store.ErrFull, 507, "full", false, "asn: "},
		{store.ErrTooLarge, 413, "too_large", false, "asn: "},
		{&http.MaxBytesError{Limit: 7}, 413, "too_large", false, "more than 7 bytes"},
		{os.ErrDeadlineExceeded, 408, "too_slow", false, "too slowly"},
		{store.ErrNotFound, 404, "not_found", false, "asn: "},
		{fleet.ErrNoPlan, 404, "no_plan", false, "asn: "},
		{fleet.ErrConflict, 412, "conflict", false, "asn: "},
		{store.ErrRefused, 409, "refused", false, "asn: "},
		{&steer.RefusedError{}, 409, "refused", false, "asn: "},
		{store.ErrInvalid, 400, "bad_request", false, "asn: "},
		{access.ErrUnauthorized, 401, "unauthorized", false, "asn: "},
		{secret, 500, "internal", false, "its log says why"},
		{api.BadPlan("asn", secret), 500, "bad_plan", false, "fleetd repair"},
		{api.BadPlan("asn", fleet.ErrNoPlan), 404, "no_plan", false, "asn: "},
	} {
		status, code, text, after := api.Failure(fmt.Errorf("asn: %w", test.err))
		if status != test.status || code != test.code || after > 0 != test.after || !strings.Contains(text, test.says) {
			t.Errorf("%v: %d %s %s, Retry-After %d", test.err, status, code, text, after)
		}
	}
}
