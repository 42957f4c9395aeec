package verify

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// long leaves a test of faults out of make ci, which passes -short: it takes
// seconds, or needs a disk and a processor that are not busy.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short")
	}
}

// host is a server with a store on disk, which a test can stop and start again at
// the same address.
type host struct {
	t      testing.TB
	dir    string
	port   int
	server *server.Server
}

// newHost returns a running server that Setup has prepared.
func newHost(t testing.TB) *host {
	h := &host{t: t, dir: t.TempDir(), port: server.RANDOM_PORT}
	h.start()
	t.Cleanup(h.stop)
	if err := fleet.Setup(t.Context(), h.dial(), fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *host) start() {
	h.t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: h.port, JetStream: true, StoreDir: h.dir, NoLog: true, NoSigs: true})
	if err != nil {
		h.t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		h.t.Fatal("the server does not become ready")
	}
	h.server, h.port = s, s.Addr().(*net.TCPAddr).Port
}

func (h *host) stop() {
	h.server.Shutdown()
	h.server.WaitForShutdown()
}

// dial returns a connection that comes back by itself.
func (h *host) dial() *nats.Conn {
	h.t.Helper()
	return dial(h.t, fmt.Sprintf("nats://127.0.0.1:%d", h.port))
}

func dial(t testing.TB, addresses string) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(addresses, nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond), nats.RetryOnFailedConnect(true),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// eventually waits until done reports true.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatalf("it does not come about that %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
