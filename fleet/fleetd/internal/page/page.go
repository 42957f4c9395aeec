// Package page serves the page on which people see and steer a fleet. They log in
// with their tokens.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
)

//go:embed page.html
var pageText string

var templates = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes": bytesInWords, "chosen": chosen, "count": countInWords[int], "did": did, "percent": percent, "plain": plain, "span": span,
}).Parse(pageText))

// policy lets the page use its own style and script, and nothing else.
var policy = "default-src 'none'; style-src " + hashOf("style") + "; script-src " + hashOf("script") +
	"; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// hashOf returns the source expression that allows the element of the page.
func hashOf(element string) string {
	_, rest, _ := strings.Cut(pageText, "<"+element+">")
	text, _, _ := strings.Cut(rest, "</"+element+">")
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Store is the part of [store.Store] that the page uses.
type Store interface {
	steer.Changer
	Names() []string
	Plan(name string) (*fleet.Plan, error)
	History(ctx context.Context, name, before string, limit int) ([]fleet.Change, error)
	Revisions(ctx context.Context, name string) ([]fleet.Stored, error)
}

// Options configure a [Page].
type Options struct {
	Store Store

	// Check returns the token of a text, or an error if there is none that is valid
	// now. The page asks again at each request of a session.
	Check func(text string) (fleet.Token, error)

	// Hosts are names in addresses of the page beside those that it is served at:
	// names of this machine, or of a proxy. With a port they hold for that alone.
	Hosts []string

	// Secure says that people reach the page by https.
	Secure bool

	// Logger receives logins, refused ones at a bounded rate, and changes of plans.
	// nil stands for slog.Default().
	Logger *slog.Logger
}

// Page is an http.Handler for the paths that do not belong to the protocol. It sets
// the deadlines of its requests, so any http.Server with a ReadHeaderTimeout will do.
// It is safe for any number of goroutines.
type Page struct {
	options  Options
	store    Store
	handler  http.Handler
	sessions *sessions
	refused  atomic.Int64 // time of the last line about a refused login
	cache    cache
	end      context.CancelFunc
}

// New returns a Page. Close it before the server ends.
func New(options Options) (*Page, error) {
	if options.Store == nil || options.Check == nil {
		return nil, errors.New("page: a nil Store or Check")
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	ctx, end := context.WithCancel(context.Background())
	p := &Page{
		options: options, store: options.Store, end: end,
		sessions: &sessions{ctx: ctx, all: map[[sha256.Size]byte]*session{}, streams: map[string]int{}},
		cache:    cache{all: map[string]*entry{}},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", p.showLogin)
	mux.HandleFunc("POST /login", p.logIn)
	mux.Handle("POST /logout", p.member(p.logOut))
	mux.Handle("GET /{$}", p.member(p.showNames))
	mux.Handle("GET /fleet", p.member(p.reader(p.showFleet)))
	mux.Handle("GET /history", p.member(p.reader(p.showHistory)))
	mux.Handle("GET /revisions", p.member(p.reader(p.showRevisions)))
	mux.Handle("GET /events", p.member(p.reader(p.stream)))
	mux.Handle("POST /steer", p.member(p.reader(p.steer)))
	p.handler = http.NewCrossOriginProtection().Handler(mux)
	return p, nil
}

// Close ends all sessions and streams.
func (p *Page) Close() { p.end() }

const (
	maxBody    = 64 << 10         // bytes of a request of a session
	maxLogin   = 4 << 10          // of any other: ten thousand at once must not fill the memory
	bodyTime   = 10 * time.Second // for sending them
	answerTime = 30 * time.Second
)

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // none at all would make the Origin of forms null
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(answerTime)) //nolint:errcheck // every connection has deadlines
	if r.ContentLength != 0 {
		control.SetReadDeadline(time.Now().Add(bodyTime)) //nolint:errcheck // as above; the end of the body ends it
	}
	most := int64(maxBody)
	if p.sessionOf(r) == nil {
		most = maxLogin
		h.Set("Connection", "close") // nobody holds one without a token
	}
	if !p.serves(r) {
		http.Error(w, "This server does not serve the host "+r.Host+". If that is one of its names, fleetd has to be told with -page-host.", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	p.handler.ServeHTTP(w, r)
}

// parseForm reads a form from the body, and answers if it cannot.
func parseForm(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "The form is too large.", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "The form cannot be read.", http.StatusBadRequest)
	}
	return err == nil
}

// render answers with a page.
func render(w http.ResponseWriter, code int, name string, data any) {
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, name, data); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(text.Bytes()) //nolint:errcheck // the client has gone
}
