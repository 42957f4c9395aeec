package api

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// DefaultMaxConns is the usual number of connections of a server.
const DefaultMaxConns = 16_384

// NewHTTPServer returns the server of a handler that is a [Server], or leads to one:
// its Shutdown ends polls. HTTP/2 is off: a replica has one request at a time, and
// streams would multiply the requests of a connection beyond the number that
// connections bound, for more memory a poll and no sendfile.
func NewHTTPServer(s *Server, handler http.Handler) *http.Server {
	server := &http.Server{
		Handler:                      handler,
		ReadHeaderTimeout:            headerTime, // and of a TLS handshake
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true, // it answers without a token
		Protocols:                    new(http.Protocols),
		ErrorLog:                     slog.NewLogLogger(s.options.Logger.Handler(), slog.LevelDebug), // clients cause most of it
	}
	server.Protocols.SetHTTP1(true)
	server.ConnState = waits
	server.RegisterOnShutdown(s.Drain)
	return server
}

// recovering returns a handler whose panics are logged: net/http logs them among the
// failures of clients.
func recovering(handler http.Handler, logger *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				if v != http.ErrAbortHandler { //nolint:errorlint // the very value
					logger.Error("fleetd: a request panicked", slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
				}
				panic(http.ErrAbortHandler) // closes the connection
			}
		}()
		handler.ServeHTTP(w, r)
	})
}

// LimitListener returns a listener that has at most n connections open. If there are
// more, it closes the one that has waited longest for the header of a request, at least
// a moment: a poll stays, and connections without a request take no place for long. Unlike
// those of golang.org/x/net/netutil, its connections are still *net.TCPConn inside, which
// sendfile needs.
//
// A connection in the middle of a TLS handshake or of a header costs twice the memory of one
// that idles. A quarter of n can be so, and more only behind a request: a new one then waits
// until it may end the one that has begun first, at least a moment before. A longer time
// would keep new clients out: thousands that are slow on purpose fill the backlog.
func LimitListener(l *net.TCPListener, n int) net.Listener {
	return &limitListener{TCPListener: l, slots: make(chan struct{}, n), closed: make(chan struct{}), maxBegun: max(minBegun, n/4)}
}

type limitListener struct {
	*net.TCPListener
	slots    chan struct{} // holds one for each connection
	maxBegun int
	once     sync.Once
	closed   chan struct{}

	mu      sync.Mutex
	waiting list.List // of *limitedConn, the longest first
	begun   list.List // those of them that are in a handshake or a header, in that order
}

const (
	roomEvery = 10 * time.Millisecond // how soon a full listener looks again for a connection to close
	moment    = time.Second           // in which a client can finish a handshake, or send a header
	minBegun  = 64                    // connections in a handshake or a header, however few there may be
)

// Accept implements net.Listener. While it waits, clients wait in the backlog.
func (l *limitListener) Accept() (net.Conn, error) {
	for !l.room() {
		select {
		case <-l.closed:
			return nil, net.ErrClosed
		case <-time.After(roomEvery):
		}
	}
	conn, err := l.AcceptTCP()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{TCPConn: conn, listener: l, free: sync.OnceFunc(func() { <-l.slots })}, nil
}

// room takes the place of a connection, and reports whether there was one. If there was
// none, it ends a connection that waits, where one has for long enough.
func (l *limitListener) room() bool {
	l.mu.Lock()
	crowded := l.begun.Len() >= l.maxBegun
	l.mu.Unlock()
	if crowded && !l.end(&l.begun) {
		return false
	}
	for {
		select {
		case l.slots <- struct{}{}:
			return true
		default:
			if !l.end(&l.waiting) {
				return false
			}
		}
	}
}

// end closes the first connection of a list if it is a moment old, and reports whether it was.
func (l *limitListener) end(list *list.List) bool {
	l.mu.Lock()
	first := list.Front()
	if first == nil || time.Since(first.Value.(*limitedConn).since) < moment {
		l.mu.Unlock()
		return false
	}
	c := first.Value.(*limitedConn)
	c.ready()
	l.mu.Unlock()
	c.Close()
	return true
}

// begin notes that a connection that waits for a request is in a handshake or a header.
func (l *limitListener) begin(c *limitedConn) {
	l.mu.Lock()
	if c.waits == nil || c.begun != nil {
		l.mu.Unlock()
		return
	}
	c.begun, c.since = l.begun.PushBack(c), time.Now()
	crowded := l.begun.Len() > l.maxBegun
	l.mu.Unlock()
	if crowded {
		l.end(&l.begun)
	}
}

// Close implements net.Listener.
func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.TCPListener.Close()
}

type limitedConn struct {
	*net.TCPConn
	listener *limitListener
	free     func()

	// listener.mu guards these.
	waits *list.Element // in listener.waiting; nil: it does not wait
	begun *list.Element // in listener.begun; nil: it does not wait, or idles
	since time.Time     // it waits, or has begun
}

// SetReadDeadline implements net.Conn. net/http sets headerTime for a TLS handshake and for
// the header of a request, once it has the first bytes of that, and otherwise idleTime.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && time.Until(t) <= headerTime {
		c.listener.begin(c)
	}
	return c.TCPConn.SetReadDeadline(t)
}

// ready removes a connection from those that wait. The caller has listener.mu.
func (c *limitedConn) ready() {
	if c.waits != nil {
		c.listener.waiting.Remove(c.waits)
	}
	if c.begun != nil {
		c.listener.begun.Remove(c.begun)
	}
	c.waits, c.begun = nil, nil
}

// waits is told of the states of connections. One is active once the header of a
// request was read.
func waits(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, ok := conn.(*limitedConn)
	if !ok {
		return
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.ready()
	if state == http.StateNew || state == http.StateIdle {
		c.waits, c.since = l.waiting.PushBack(c), time.Now()
	}
	if state == http.StateNew {
		c.begun = l.begun.PushBack(c)
	}
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.free()
	return c.TCPConn.Close()
}

// Certificate follows the files of a certificate and its key while Run runs.
type Certificate struct {
	*reload.Value[*tls.Certificate]
}

// certificateEvery is how soon renewed files are used.
const certificateEvery = 10 * time.Second

// NewCertificate loads a certificate and its key from PEM files.
func NewCertificate(ctx context.Context, cert, key string, logger *slog.Logger) (*Certificate, error) {
	// Files that are renewed one after the other do not belong together in between.
	value := reload.NewValue(reload.Join(reload.File(cert), reload.File(key)), func(_ context.Context, content *reload.Content) (*tls.Certificate, error) {
		certText, err := io.ReadAll(content.Parts[0].Body)
		keyText, keyErr := io.ReadAll(content.Parts[1].Body)
		if err = errors.Join(err, keyErr); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(certText, keyText)
		return &pair, err
	}, reload.Options{Every: certificateEvery, MaxBackoff: certificateEvery, Logger: logger})
	return &Certificate{value}, value.Reload(ctx)
}

// Config returns a configuration of TLS with the newest certificate.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, _ := c.Load()
		return pair, nil
	}}
}
