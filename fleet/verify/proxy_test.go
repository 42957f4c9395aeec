package verify

import (
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// The directions of a proxy.
const (
	toServer = iota
	fromServer
)

// proxy is the network between a client and a server: it can be cut, and it can
// lose everything in a direction while connections stay open.
type proxy struct {
	t        testing.TB
	listener net.Listener
	server   string
	copies   sync.WaitGroup

	mu     sync.Mutex
	change *sync.Cond
	held   [2]bool // by direction
	cut    bool    // there are no connections
	closed bool
	conns  map[net.Conn]bool
}

func newProxy(t testing.TB, serverPort int) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: listener, server: fmt.Sprintf("127.0.0.1:%d", serverPort), conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	p.copies.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		if p.cut || p.closed {
			client.Close()
			server.Close()
		} else {
			p.conns[client], p.conns[server] = true, true
			p.copies.Go(func() { p.copy(server, client, toServer) })
			p.copies.Go(func() { p.copy(client, server, fromServer) })
		}
		p.mu.Unlock()
	}
}

// copy forwards bytes of one direction. What is held comes later, as TCP repeats
// what a network has lost.
func (p *proxy) copy(to, from net.Conn, direction int) {
	defer p.drop(to, from)
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.held[direction] && !p.closed && p.conns[from] {
			p.change.Wait()
		}
		p.mu.Unlock()
		if _, writeErr := to.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

func (p *proxy) drop(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
		delete(p.conns, conn)
	}
	p.change.Broadcast()
}

// set changes what the network does.
func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	if p.cut || p.closed {
		for conn := range p.conns {
			conn.Close()
		}
		clear(p.conns)
	}
	p.change.Broadcast()
}

// faults are the ways in which a network fails.
var faults = map[string]func(*proxy){
	"cut":                  func(p *proxy) { p.set(func() { p.cut = true }) },
	"black hole":           func(p *proxy) { p.set(func() { p.held = [2]bool{true, true} }) },
	"half open, to server": func(p *proxy) { p.set(func() { p.held[toServer] = true }) },
	"half open, to client": func(p *proxy) { p.set(func() { p.held[fromServer] = true }) },
}

func (p *proxy) heal() { p.set(func() { p.cut, p.held = false, [2]bool{} }) }

func (p *proxy) close() {
	p.listener.Close()
	p.set(func() { p.closed = true })
	p.copies.Wait()
}

// dialAlert returns a connection that soon notices when nothing comes any more.
func dialAlert(t testing.TB, addresses string, options ...nats.Option) *nats.Conn {
	t.Helper()
	options = append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond), nats.ReconnectJitter(0, 0), nats.RetryOnFailedConnect(true), nats.IgnoreDiscoveredServers(),
		nats.PingInterval(200 * time.Millisecond), nats.MaxPingsOutstanding(2), nats.Timeout(500 * time.Millisecond), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)
	conn, err := nats.Connect(addresses, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
