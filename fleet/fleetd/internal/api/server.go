// Package api serves the protocol of a fleet, docs/fleet-protocol.md, over HTTP.
package api

import (
	"cmp"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// DefaultMaxContent stands for Options.MaxContent of 0.
const DefaultMaxContent = 4 << 30

// Options configure a [Server]. The zero Options will do.
type Options struct {
	// Mirrors are the URLs under which others serve content, as URL/NAME/SHA256.
	Mirrors []string

	// MaxContent bounds the bytes of a revision; 0 stands for DefaultMaxContent.
	MaxContent int64

	// MaxConns is the number of connections that the server has at once, of which the
	// token for many replicas leaves a quarter to others; 0 stands for DefaultMaxConns.
	MaxConns int

	// MaxDownloads is the number of contents that are sent at once, each of which has a
	// file open. One token has three quarters of them at most. 0 stands for MaxConns.
	MaxDownloads int

	// Logger receives each change, upload and removal, and refused tokens; nil
	// stands for slog.Default().
	Logger *slog.Logger

	times *times // for tests; nil: usual
}

// Server serves a store over HTTP. It is an http.Handler for an [http.Server] made by
// [NewHTTPServer], whose deadlines it moves. It is safe for any number of goroutines.
type Server struct {
	store   *store.Store
	options Options
	mux     *http.ServeMux
	plans   plans
	limits  limits
	times   times
	reads   chan struct{} // holds one for each large answer that is made
	verify  chan struct{} // holds one while a name is verified
	refused refusals
	failed  refusals
	metrics *metrics

	drain    sync.Once
	draining chan struct{} // closed when the server is going to end
}

// New returns a Server of a store, which stays the caller's.
func New(s *store.Store, o Options) *Server {
	o.MaxContent, o.MaxConns = cmp.Or(o.MaxContent, DefaultMaxContent), cmp.Or(o.MaxConns, DefaultMaxConns)
	o.MaxDownloads = cmp.Or(o.MaxDownloads, o.MaxConns)
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	server := &Server{
		store: s, options: o, mux: http.NewServeMux(),
		plans:    plans{byName: map[string]*encodedPlan{}, waiting: map[string]int{}},
		limits:   limits{conns: o.MaxConns, maxDownloads: o.MaxDownloads, tokens: map[string]*usage{}},
		times:    *cmp.Or(o.times, &usual),
		reads:    make(chan struct{}, maxReads),
		verify:   make(chan struct{}, 1),
		refused:  refusals{Limiter: rate.NewLimiter(rate.Every(refusalEvery), refusalBurst)},
		failed:   refusals{Limiter: rate.NewLimiter(rate.Every(refusalEvery), refusalBurst)},
		draining: make(chan struct{}),
	}
	server.metrics = newMetrics(s)
	server.route()
	return server
}

// Drain ends all polls and lets /readyz fail: the first step of a shutdown. It may be
// called more than once.
func (s *Server) Drain() { s.drain.Do(func() { close(s.draining) }) }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// ServeMux would answer with a redirection, which no client of the protocol needs.
	if path := r.URL.EscapedPath(); r.Method == http.MethodConnect || !strings.HasPrefix(path, "/") || !clean(path) {
		s.handler(&route{open: true, serve: (*Server).nowhere})(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// Beside returns a handler that serves the paths of the protocol by s, and all others
// by other.
func (s *Server) Beside(other http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); first {
		case "v1", "healthz", "readyz", "metrics":
			s.ServeHTTP(w, r)
		default:
			other.ServeHTTP(w, r)
		}
	})
}

// clean reports whether an escaped path has no empty, "." or ".." segment.
func clean(path string) bool {
	for segment := range strings.SplitSeq(path[1:], "/") {
		if segment == "." || segment == ".." || segment == "" && path != "/" {
			return false
		}
	}
	return true
}

func now() time.Time { return time.Now() }
