package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// route is a row of the protocol.
type route struct {
	method string // GET includes HEAD
	path   string
	role   fleet.Role // the least that may use it; unused if open
	body   bool       // whether a request has one
	global bool       // about no name: the token must be good for all names
	open   bool       // needs no token
	large  bool       // its answer can be large: few are made at once
	serve  func(*Server, *request) error
}

// label returns the name of the route in metrics and in the log.
func (r *route) label() string {
	if r.method == "" {
		return "other"
	}
	return r.method + " " + r.path
}

var routes = []*route{
	{method: "GET", path: "/v1/names/{name}/plan", role: fleet.ReplicaRole, serve: (*Server).getPlan},
	{method: "GET", path: "/v1/names/{name}/content/{sha256}", role: fleet.ReplicaRole, serve: (*Server).getContent},
	{method: "GET", path: "/v1/names/{name}/revisions/{id}/chain", role: fleet.ReplicaRole, serve: (*Server).getChain},
	{method: "GET", path: "/v1/names/{name}/revisions/{id}/deltas", role: fleet.ReplicaRole, serve: (*Server).getDeltas},
	{method: "PUT", path: "/v1/names/{name}/replicas/{id}", role: fleet.ReplicaRole, body: true, serve: (*Server).putReport},
	{method: "DELETE", path: "/v1/names/{name}/replicas/{id}", role: fleet.ReplicaRole, serve: (*Server).deleteReport},

	{method: "GET", path: "/v1/names", role: fleet.ReaderRole, serve: (*Server).getNames},
	{method: "GET", path: "/v1/names/{name}/status", role: fleet.ReaderRole, large: true, serve: (*Server).getStatus},
	{method: "GET", path: "/v1/names/{name}/history", role: fleet.ReaderRole, large: true, serve: (*Server).getHistory},
	{method: "GET", path: "/v1/names/{name}/revisions", role: fleet.ReaderRole, large: true, serve: (*Server).getRevisions},
	{method: "POST", path: "/v1/names/{name}/revisions", role: fleet.PublisherRole, body: true, serve: (*Server).postRevision},
	{method: "PUT", path: "/v1/names/{name}/revisions/{id}/signature", role: fleet.PublisherRole, body: true, serve: (*Server).putSignature},
	{method: "PATCH", path: "/v1/names/{name}/plan", role: fleet.PublisherRole, body: true, serve: (*Server).patchPlan},

	{method: "POST", path: "/v1/names/{name}/verify", role: fleet.AdminRole, body: true, serve: (*Server).postVerify},
	{method: "POST", path: "/v1/names/{name}/repair", role: fleet.AdminRole, body: true, serve: (*Server).postRepair},
	{method: "DELETE", path: "/v1/names/{name}", role: fleet.AdminRole, serve: (*Server).deleteName},
	{method: "GET", path: "/v1/tokens", role: fleet.AdminRole, global: true, serve: (*Server).getTokens},
	{method: "POST", path: "/v1/tokens", role: fleet.AdminRole, global: true, body: true, serve: (*Server).postToken},
	{method: "DELETE", path: "/v1/tokens/{id}", role: fleet.AdminRole, global: true, serve: (*Server).deleteToken},

	{method: "GET", path: "/healthz", open: true, serve: (*Server).getHealth},
	{method: "GET", path: "/readyz", open: true, serve: (*Server).getReady},
	{method: "GET", path: "/metrics", role: fleet.ReaderRole, global: true, serve: (*Server).getMetrics},
	{path: "/", open: true, serve: (*Server).nowhere},
}

// request is a request whose token has the right to it.
type request struct {
	*http.Request
	route *route
	w     *writer
	token fleet.Token // unless the route is open
	query url.Values  // as well
	name  string
	made  func() // gives back the place of a large answer
}

// route registers the routes, and for each path an answer to other methods.
func (s *Server) route() {
	methods := map[string][]string{}
	for _, rt := range routes {
		s.mux.HandleFunc(strings.TrimSpace(rt.method+" "+rt.path), s.handler(rt))
		if rt.method != "" {
			methods[rt.path] = append(methods[rt.path], rt.method)
		}
	}
	for path, allowed := range methods {
		if slices.Contains(allowed, http.MethodGet) {
			allowed = append(allowed, http.MethodHead)
		}
		slices.Sort(allowed)
		s.mux.HandleFunc(path, s.handler(&route{open: true, serve: func(_ *Server, q *request) error {
			q.w.Header().Set("Allow", strings.Join(allowed, ", "))
			return &failure{http.StatusMethodNotAllowed, "bad_method", fmt.Sprintf("this path has %s", strings.Join(allowed, ", ")), 0}
		}}))
	}
}

func (s *Server) nowhere(*request) error {
	return &failure{http.StatusNotFound, "not_found", "the protocol has no such path", 0}
}

// handler returns the handler of a route: it checks token, rights and limits, calls
// the route and answers its error.
func (s *Server) handler(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := &request{Request: r, route: rt, w: newWriter(w, &s.times), made: func() {}}
		q.w.answerWithin(storeTime)
		err := s.admit(q)
		if err == nil {
			q.w.Header().Set("X-Content-Type-Options", "nosniff")
			var leave func()
			if leave, err = s.enter(q); err == nil {
				defer leave()
				if err = s.waitToMake(q); err == nil {
					defer q.made()
					err = rt.serve(s, q)
				}
			}
		}
		if err != nil {
			s.answerError(q, err)
		}
		s.metrics.requests.WithLabelValues(rt.label(), strconv.Itoa(q.w.status)).Inc()
	}
}

// admit returns an error unless the token of a request has the right to it. A request
// that it refuses, or that needs no token, ends its connection: a client without a token
// cannot hold one, nor send a long body.
func (s *Server) admit(q *request) (err error) {
	rt := q.route
	defer func() {
		// A request with a Content-Length beside its chunks ends the connection, too:
		// net/http hides which length a proxy may have believed.
		if err != nil || rt.open || len(q.TransferEncoding) > 0 {
			q.w.Header().Set("Connection", "close")
		}
	}()
	if q.ContentLength != 0 {
		q.w.readWithin(q.w.times.body)
		if !rt.body && !rt.open {
			return badRequest("a %s request has no body", q.Method)
		}
	}
	if rt.open {
		return nil
	}
	if q.query, err = url.ParseQuery(q.URL.RawQuery); err != nil {
		return badRequest("the query: %s", bounded(err.Error(), 200))
	}
	if err := q.authenticate(s.store.Token); err != nil {
		if unready := s.store.Ready(); unready != nil && len(s.store.Tokens()) == 0 {
			return unready // it knows no token yet
		}
		return err
	}
	if strings.Contains(rt.path, "{name}") {
		name := q.PathValue("name")
		if err := fleet.CheckName("name", name); err != nil {
			return badRequest("%v", err)
		}
		q.name = name
	}
	return q.allowed()
}

// authenticate finds the token of a request. It does so anew when a request has
// waited: the token may be revoked meanwhile.
func (q *request) authenticate(tokens func(id string) (store.Secret, bool)) (err error) {
	values := q.Header["Authorization"]
	if len(values) != 1 {
		return access.ErrUnauthorized
	}
	scheme, text, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return access.ErrUnauthorized
	}
	q.token, err = access.Check(tokens, text, now())
	return err
}

// allowed returns an error unless role and patterns of the token give the right to
// the route.
func (q *request) allowed() error {
	switch role := q.route.role; {
	case !access.Has(q.token, role):
		return forbidden("a token of the role %s cannot do it: it takes %s", q.token.Role, role)
	case q.route.global && !access.MayAll(q.token, role):
		return forbidden("it takes a token for all names")
	case q.name != "" && !access.May(q.token, role, q.name):
		return forbidden("the token is not for this name")
	}
	return nil
}

// again returns an error unless the token of a request that has waited still gives
// the right to it.
func (s *Server) again(q *request) error {
	if err := q.authenticate(s.store.Token); err != nil {
		return err
	}
	return q.allowed()
}

// waitToMake waits until a large answer may be made. made ends that: once it is made, a
// client that reads it slowly holds up no other.
func (s *Server) waitToMake(q *request) error {
	if !q.route.large {
		return nil
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	select {
	case s.reads <- struct{}{}:
		q.made = sync.OnceFunc(func() { <-s.reads })
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a request among those of its token, until leave is called.
func (s *Server) enter(q *request) (leave func(), err error) {
	if q.route.open {
		return func() {}, nil
	}
	return s.limits.enter(q.token)
}
