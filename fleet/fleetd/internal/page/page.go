// Package page serves the page on which people see and steer a fleet, behind a
// login.
package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

//go:embed page.html
var pageText string

var templates = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes": bytesInWords,
	"join":  func(all []string) string { return strings.Join(all, ", ") },
	"span":  span,
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

// Options configure a [Page].
type Options struct {
	// Conn is the connection of a user who may steer, which the page keeps.
	Conn *nats.Conn

	// Password is what a person needs to log in.
	Password string

	// Hosts are names in addresses of the page beside those that it is served at:
	// names of this machine, or of a proxy. With a port they hold for that alone.
	Hosts []string

	// Secure says that people reach the page by https.
	Secure bool
}

// Page is an http.Handler. Serve it with the timeouts of [NewServer], and call
// Close before the server ends: that ends what streams.
type Page struct {
	options  Options
	handler  http.Handler
	sessions *sessions
	logins   *throttle
	feeds    *feeds
	end      context.CancelFunc
}

// New returns a Page.
func New(options Options) (*Page, error) {
	if options.Conn == nil {
		return nil, errors.New("page: a nil Conn")
	}
	if options.Password == "" {
		return nil, errors.New("page: an empty password")
	}
	ctx, end := context.WithCancel(context.Background())
	p := &Page{
		options: options, end: end, logins: &throttle{all: map[string]attempts{}},
		sessions: &sessions{ctx: ctx, all: map[[sha256.Size]byte]*session{}},
		feeds:    &feeds{ctx: ctx, conn: options.Conn, all: map[string]*feed{}},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", p.showLogin)
	mux.HandleFunc("POST /login", p.logIn)
	mux.Handle("POST /logout", p.member(p.logOut))
	mux.Handle("GET /{$}", p.member(p.showNames))
	mux.Handle("GET /fleet", p.member(p.showFleet))
	mux.Handle("GET /events", p.member(p.stream))
	mux.Handle("POST /steer", p.member(p.steer))
	p.handler = http.NewCrossOriginProtection().Handler(mux)
	return p, nil
}

// Close ends all sessions and streams, and waits for the watchers.
func (p *Page) Close() {
	p.end()
	p.feeds.running.Wait()
}

// maxBody bounds the body of a request.
const maxBody = 64 << 10

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
	if !p.serves(r) {
		http.Error(w, "This server does not serve the host "+r.Host+". If that is one of its names, fleetd has to be told with -page-host.", http.StatusMisdirectedRequest)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	p.handler.ServeHTTP(w, r)
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

// NewServer returns a server for a Page: slow clients do not hold it up. A stream
// sets its own deadlines.
func NewServer(p *Page) *http.Server {
	return &http.Server{
		Handler: p, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
}
