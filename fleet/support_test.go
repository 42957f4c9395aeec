package fleet_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// server is a fleetd in memory, for tests and examples: one name at a time, no rights, no
// limits. It is also the network: see network.
type server struct {
	http.ServeMux
	token string

	mu       sync.Mutex // guards the fields below
	plan     *fleet.Plan
	changed  chan struct{} // closed with each change of plan
	stored   []fleet.Stored
	content  map[string][]byte // by digest
	reports  map[string]fleet.Report
	received []fleet.Report // all of them
	history  []fleet.Change // the newest first
	tokens   []fleet.Token
	requests []string
	before   func(w http.ResponseWriter, r *http.Request) bool // returns true if it has answered
}

func newServer() *server {
	s := &server{token: "secret-token", changed: make(chan struct{}), content: map[string][]byte{}, reports: map[string]fleet.Report{}}
	s.HandleFunc("GET /v1/names/{name}/plan", s.getPlan)
	s.HandleFunc("PATCH /v1/names/{name}/plan", s.patchPlan)
	s.HandleFunc("GET /v1/names/{name}/content/{sum}", s.getContent)
	s.HandleFunc("POST /v1/names/{name}/revisions", s.store)
	s.HandleFunc("GET /v1/names/{name}/revisions/{id}/chain", s.getChain)
	s.HandleFunc("GET /v1/names/{name}/revisions/{id}/deltas", s.getDeltas)
	s.HandleFunc("PUT /v1/names/{name}/revisions/{id}/signature", s.sign)
	s.HandleFunc("PUT /v1/names/{name}/replicas/{id}", s.report)
	s.HandleFunc("DELETE /v1/names/{name}/replicas/{id}", s.leave)
	s.HandleFunc("GET /v1/names/{name}/status", s.status)
	s.list("GET /v1/names/{name}/history", "changes", func() any { return s.history })
	s.list("GET /v1/names/{name}/revisions", "revisions", func() any { return s.stored })
	s.list("GET /v1/names", "names", func() any { return []string{"asn"} })
	s.list("GET /v1/tokens", "tokens", func() any { return s.tokens })
	s.HandleFunc("POST /v1/tokens", func(w http.ResponseWriter, r *http.Request) {
		var made fleet.Token
		json.NewDecoder(r.Body).Decode(&made)
		made.ID = "t1"
		s.tokens = append(s.tokens, made)
		made.Text = "pst_t1_text"
		reply(w, 201, made)
	})
	s.HandleFunc("POST /v1/names/{name}/verify", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, 200, map[string]any{"checked": len(s.stored), "damaged": []string{}})
	})
	s.HandleFunc("POST /v1/names/{name}/repair", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, s.set(fleet.KindRepair, func(next *fleet.Plan) { next.Name, next.Epoch, next.Seq = r.PathValue("name"), next.Epoch+1, 1 }))
	})
	gone := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }
	s.HandleFunc("DELETE /v1/tokens/{id}", gone)
	s.HandleFunc("DELETE /v1/names/{name}", gone)
	return s
}

func (s *server) list(pattern, key string, list func() any) {
	s.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, map[string]any{key: list()}) })
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	before := s.before
	s.mu.Unlock()
	if before != nil && before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+s.token {
		refuse(w, 401, "unauthorized", "the token is not valid")
		return
	}
	s.ServeMux.ServeHTTP(w, r)
}

// on makes before answer requests; nil ends that.
func (s *server) on(before func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code, text string) {
	reply(w, status, map[string]string{"error": text, "code": code})
}

func (s *server) getPlan(w http.ResponseWriter, r *http.Request) {
	wait, _ := time.ParseDuration(r.FormValue("wait"))
	after := r.FormValue("after")
	var epoch, seq uint64
	fmt.Sscanf(after, "%d.%d", &epoch, &seq)
	timeout := time.After(wait)
	for {
		s.mu.Lock()
		plan, changed := s.plan, s.changed
		s.mu.Unlock()
		switch {
		case plan == nil && after == "":
			refuse(w, 404, "no_plan", "nothing was published")
			return
		case plan != nil && plan.After(epoch, seq):
			reply(w, 200, plan)
			return
		}
		select {
		case <-changed:
		case <-timeout:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// set changes the plan, as an operation does.
func (s *server) set(kind fleet.Kind, change func(next *fleet.Plan)) *fleet.Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &fleet.Plan{Format: fleet.Format, Name: "asn", Epoch: 1, Revisions: map[string]fleet.Revision{}}
	if s.plan != nil {
		next = s.plan.Clone()
	}
	next.Seq++
	next.Change = fleet.Change{Epoch: next.Epoch, Seq: next.Seq, By: "ann", Kind: kind}
	change(next)
	for _, r := range s.stored {
		next.Revisions[r.ID] = r.Revision
	}
	next.Change.To = next.Stable
	s.plan, s.history = next, append([]fleet.Change{next.Change}, s.history...)
	close(s.changed)
	s.changed = make(chan struct{})
	return next
}

// put stores content as a revision.
func (s *server) put(id string, content []byte, options ...func(*fleet.Revision)) fleet.Revision {
	sum := sha256.Sum256(content)
	r := fleet.Revision{ID: id, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), Created: time.Date(2026, 11, 23, 10, 15, 0, 0, time.UTC)}
	for _, option := range options {
		option(&r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored = append(s.stored, fleet.Stored{Revision: r})
	s.content[r.SHA256] = content
	return r
}

// publish stores content and makes it stable.
func (s *server) publish(id string, content []byte, options ...func(*fleet.Revision)) *fleet.Plan {
	s.put(id, content, options...)
	return s.set(fleet.KindPublish, func(next *fleet.Plan) { next.Previous, next.Stable, next.Canary = next.Stable, id, nil })
}

func (s *server) patchPlan(w http.ResponseWriter, r *http.Request) {
	var op fleet.Operation
	if err := json.NewDecoder(r.Body).Decode(&op); err != nil {
		refuse(w, 400, "bad_request", err.Error())
		return
	}
	s.mu.Lock()
	at := "0.0"
	if s.plan != nil {
		at = s.plan.Version()
	}
	s.mu.Unlock()
	if match := r.Header.Get("If-Match"); match != "" && match != strconv.Quote(at) {
		refuse(w, 412, "conflict", "the plan was changed meanwhile")
		return
	}
	plan := s.set(op.Kind, func(next *fleet.Plan) {
		switch op.Kind {
		case fleet.KindPublish, fleet.KindRollback:
			if op.Revision == "" && next.Canary == nil {
				op.Revision = next.Previous
			}
			next.Previous, next.Stable, next.Canary = next.Stable, cmp.Or(op.Revision, next.Stable), nil
		case fleet.KindCanary, fleet.KindRollout:
			next.Canary = &fleet.Canary{Revision: op.Revision, Selection: op.Selection, Seq: next.Seq}
		case fleet.KindPromote:
			next.Previous, next.Stable, next.Canary = next.Stable, next.Canary.Revision, nil
		case fleet.KindPin:
			next.Pins = map[string]string{op.ID: op.Revision}
		case fleet.KindUnpin:
			next.Pins = nil
		case fleet.KindPause, fleet.KindResume:
			next.Paused = op.Kind == fleet.KindPause
		}
	})
	reply(w, 200, plan)
}

func (s *server) getContent(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, ok := s.content[r.PathValue("sum")]
	s.mu.Unlock()
	if !ok {
		refuse(w, 404, "not_found", "there is no such content")
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func (s *server) store(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	created, timeErr := time.Parse(time.RFC3339Nano, r.FormValue("created"))
	if err := errors.Join(err, timeErr); err != nil {
		refuse(w, 400, "bad_request", err.Error())
		return
	}
	base := r.FormValue("base")
	if chain := s.chain(base); base != "" && (len(chain) == 0 || int64(len(content)) > chain[0].Size/4) {
		refuse(w, 409, "snapshot", "publish whole content")
		return
	}
	reply(w, 201, s.put(r.FormValue("id"), content, func(to *fleet.Revision) { to.Created, to.Base, to.State = created, base, r.FormValue("state") }))
}

// chain returns the revisions that make the content of one.
func (s *server) chain(id string) (chain []fleet.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id != "" {
		i := slices.IndexFunc(s.stored, func(one fleet.Stored) bool { return one.ID == id })
		if i < 0 {
			return nil
		}
		chain, id = append(chain, s.stored[i].Revision), s.stored[i].Base
	}
	slices.Reverse(chain)
	return chain
}

func (s *server) chainFrom(r *http.Request) []fleet.Revision {
	chain := s.chain(r.PathValue("id"))
	for i, one := range chain {
		if one.Base != "" && one.Base == r.FormValue("from") {
			return chain[i:]
		}
	}
	return chain
}

func (s *server) getChain(w http.ResponseWriter, r *http.Request) {
	reply(w, 200, map[string]any{"revisions": s.chainFrom(r)})
}

func (s *server) getDeltas(w http.ResponseWriter, r *http.Request) {
	var all []byte
	for _, one := range s.chainFrom(r) {
		s.mu.Lock()
		all = append(all, s.content[one.SHA256]...)
		s.mu.Unlock()
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(all))
}

func (s *server) sign(w http.ResponseWriter, r *http.Request) {
	var body struct{ Signature []byte }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, 400, "bad_request", err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.stored {
		if s.stored[i].ID == r.PathValue("id") {
			s.stored[i].Signature = body.Signature
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) report(w http.ResponseWriter, r *http.Request) {
	var report fleet.Report
	if err := json.NewDecoder(r.Body).Decode(&report); err != nil || report.ID != r.PathValue("id") {
		refuse(w, 400, "bad_request", "it is no report")
		return
	}
	report.Received = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports[report.ID], s.received = report, append(s.received, report)
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) leave(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reports, r.PathValue("id"))
	w.WriteHeader(http.StatusNoContent)
}

func (s *server) status(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page := fleet.Status{Name: "asn", Now: time.Now(), Plan: s.plan, Counts: map[fleet.State]int{}}
	for _, id := range slices.Sorted(maps.Keys(s.reports)) {
		if id <= r.FormValue("after") {
			continue
		}
		if len(page.Replicas) == 3 {
			page.Next = page.Replicas[2].ID
			break
		}
		page.Replicas = append(page.Replicas, s.reports[id])
	}
	reply(w, 200, page)
}

// all returns a copy of the requests.
func (s *server) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *server) with(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// count returns how many reports came.
func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.received)
}

// logText is the text of a log.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// reportOf returns the last report of a replica.
func (s *server) reportOf(id string) fleet.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reports[id]
}

// network is a Transport to handlers by host. It needs no sockets, so time can be that of
// a synctest bubble. A host without a handler refuses connections.
type network map[string]http.Handler

// RoundTrip implements http.RoundTripper.
func (n network) RoundTrip(r *http.Request) (*http.Response, error) {
	handler, ok := n[r.URL.Host]
	if !ok {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	ctx := r.Context()
	reader, writer := io.Pipe()
	a := &answer{header: http.Header{}, body: writer, ready: make(chan struct{})}
	request := r.Clone(ctx)
	request.RequestURI = r.URL.RequestURI()
	if request.Body == nil {
		request.Body = http.NoBody
	}
	stop := context.AfterFunc(ctx, func() { writer.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer stop()
		defer request.Body.Close()
		defer func() {
			if recover() != nil { // http.ErrAbortHandler
				a.broken = !a.wrote
				writer.CloseWithError(io.ErrUnexpectedEOF)
			}
			a.WriteHeader(http.StatusOK)
			writer.Close()
		}()
		handler.ServeHTTP(a, request)
	}()
	select {
	case <-a.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if a.broken {
		return nil, errors.New("connection reset by peer")
	}
	length, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{StatusCode: a.status, Header: a.sent, Body: reader, ContentLength: length, Request: r, ProtoMajor: 1, ProtoMinor: 1}, nil
}

type answer struct {
	header, sent http.Header
	body         *io.PipeWriter
	status       int
	wrote        bool
	broken       bool
	ready        chan struct{}
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if !a.wrote {
		a.wrote, a.status, a.sent = true, status, a.header.Clone()
		close(a.ready)
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// client returns a Client of servers at https://a, https://b and so on.
func client(t testing.TB, servers ...http.Handler) *fleet.Client {
	t.Helper()
	hosts, addresses := network{}, ""
	for i, handler := range servers {
		host := string(rune('a' + i))
		hosts[host] = handler
		addresses += ",https://" + host
	}
	c, err := fleet.NewClient(addresses[1:], fleet.ClientOptions{Token: "secret-token", Transport: hosts})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// source returns a Source of the replica r1.
func source(t testing.TB, c *fleet.Client, options fleet.SourceOptions) *fleet.Source {
	t.Helper()
	options.ID = "r1"
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := fleet.NewSource(c, "asn", options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
