package verify

import (
	"net"
	"sync"
	"testing"
)

// The directions of a proxy.
const (
	toServer = iota
	fromServer
)

// proxy is the network between a client and a server: it can be cut, and it can lose
// everything in a direction while connections stay open.
type proxy struct {
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

func newProxy(t testing.TB, server string) *proxy {
	t.Helper()
	p := &proxy{listener: must(net.Listen("tcp", "127.0.0.1:0"))(t), server: server, conns: map[net.Conn]bool{}}
	p.change = sync.NewCond(&p.mu)
	p.copies.Go(p.accept)
	t.Cleanup(func() {
		p.listener.Close()
		p.set(func() { p.closed = true })
		p.copies.Wait()
	})
	return p
}

func (p *proxy) url() string { return "http://" + p.listener.Addr().String() }

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

// copy forwards bytes of one direction. Held ones come later, as TCP repeats them.
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

// set changes the network.
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
