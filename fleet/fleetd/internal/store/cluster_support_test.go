package store_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// authority makes certificates for 127.0.0.1.
type authority struct {
	t    testing.TB
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.certificate("ca", nil)
	a.file = a.path("ca.pem")
	return a
}

func (a *authority) path(file string) string { return filepath.Join(a.dir, file) }

// issue writes the files of a certificate.
func (a *authority) issue(name string) (cert, key string) {
	a.certificate(name, a)
	return a.path(name + ".pem"), a.path(name + ".key")
}

func (a *authority) certificate(name string, by *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	must := func(err error) {
		if err != nil {
			a.t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: by == nil,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, parentKey := template, key
	if by != nil {
		parent, parentKey = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	must(err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must(err)
	must(os.WriteFile(a.path(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(os.WriteFile(a.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
	cert, err := x509.ParseCertificate(der)
	must(err)
	return cert, key
}

const size = 3

// cluster is three nodes in this process. Each reaches each other through a proxy.
type cluster struct {
	t       testing.TB
	options [size]store.Options
	nodes   [size]*store.Store
	proxies [size][size]*proxy // from, to
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{t: t}
	ca := newAuthority(t)
	var listen [size]string
	for i := range size {
		listen[i] = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	}
	nowhere := fmt.Sprintf("127.0.0.1:%d", freePort(t)) // so that nodes know of the proxies alone
	for i := range size {
		node := fmt.Sprintf("n%d", i)
		cert, key := ca.issue(node)
		config := &store.Cluster{Node: node, Listen: listen[i], Advertise: nowhere, Cert: cert, Key: key, CA: ca.file}
		for j := range size {
			if i != j {
				c.proxies[i][j] = newProxy(t, listen[j])
				config.Routes = append(config.Routes, c.proxies[i][j].address())
			}
		}
		c.options[i] = store.Options{Dir: filepath.Join(t.TempDir(), node), Cluster: config}
	}
	for i := range size {
		c.start(i)
	}
	c.awaitReady(0, 1, 2)
	return c
}

func (c *cluster) start(i int) { c.nodes[i] = open(c.t, c.options[i]) }

func (c *cluster) awaitReady(nodes ...int) {
	c.t.Helper()
	for _, i := range nodes {
		eventually(c.t, fmt.Sprintf("node %d is ready", i), func() bool { return c.nodes[i].Ready() == nil })
	}
}

// leader returns the node that leads.
func (c *cluster) leader() (leader int) {
	c.t.Helper()
	eventually(c.t, "a node leads", func() bool {
		for i, node := range c.nodes {
			if node != nil && node.Leader() {
				leader = i
				return true
			}
		}
		return false
	})
	return leader
}

// cut takes away all routes of a node.
func (c *cluster) cut(node int, cut bool) {
	for i := range size {
		if i != node {
			c.proxies[i][node].cut(cut)
			c.proxies[node][i].cut(cut)
		}
	}
}

// freePort returns a port that nothing listens at, below those that systems give to
// connections that go out: a node has to find it free again after a restart.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + mathrand.IntN(20_000)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// proxy passes on connections, until it is cut.
type proxy struct {
	listener net.Listener
	to       string
	tasks    sync.WaitGroup

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, to: to, open: map[net.Conn]bool{}}
	p.tasks.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			p.tasks.Go(func() { p.serve(from) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		p.cut(true)
		p.tasks.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	p.mu.Lock()
	if p.isCut {
		p.mu.Unlock()
		return
	}
	p.open[from], p.open[to] = true, true
	p.mu.Unlock()
	var both sync.WaitGroup
	pass := func(dst, src net.Conn) {
		io.Copy(dst, src)
		dst.Close()
		src.Close()
	}
	both.Go(func() { pass(to, from) })
	pass(from, to)
	both.Wait()
	p.mu.Lock()
	delete(p.open, from)
	delete(p.open, to)
	p.mu.Unlock()
}

func (p *proxy) cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = cut
	for c := range p.open {
		if cut {
			c.Close()
		}
	}
}
