package verify

import (
	"bufio"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/poolswap/poolswap/fleet"
)

var fleetd string // the command

func TestMain(m *testing.M) {
	if args := os.Getenv(replicaVariable); args != "" {
		serveReplica(strings.Fields(args))
	}
	os.Exit(build(m))
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fleet-verify")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	fleetd = filepath.Join(dir, "fleetd")
	if output, err := exec.Command("go", "build", "-C", "../fleetd", "-o", fleetd, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// long leaves a test of faults out of make ci, which passes -short.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("not with -short")
	}
}

// noLeak fails the test if goroutines are left when everything is closed. It must be
// called first, for its cleanup to be the last.
func noLeak(t testing.TB) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if !t.Failed() {
			goleak.VerifyNone(t, before)
		}
	})
}

// must returns value, and ends the test after an error. Tests call it on their own
// goroutine.
func must[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// eventually waits until done reports true.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come about that %s", what)
		}
	}
}

// node is a server in a process of its own, which can be killed and started again.
type node struct {
	t       testing.TB
	dir     string
	address string
	args    []string
	ca      string // of its certificate, if it has one
	command *exec.Cmd
}

// newNode returns a running server.
func newNode(t testing.TB, args ...string) *node {
	t.Helper()
	n := &node{t: t, dir: filepath.Join(t.TempDir(), "data"), args: args}
	n.start()
	t.Cleanup(n.kill)
	n.awaitToken(n.token())
	return n
}

// awaitToken waits until the node knows a token.
func (n *node) awaitToken(file string) {
	n.t.Helper()
	eventually(n.t, "the node knows the token", func() bool {
		c, err := fleet.NewClient(n.url(), fleet.ClientOptions{TokenFile: file, CAFile: n.ca})
		if err == nil {
			defer c.CloseIdleConnections()
			_, err = c.Names(n.t.Context())
		}
		return err == nil
	})
}

// token returns the file of the token of an administrator.
func (n *node) token() string { return filepath.Join(n.dir, "admin.token") }

// start starts the process, and waits until it says its address.
func (n *node) start() {
	n.t.Helper()
	args := append([]string{"serve", "-page=false", "-dir", n.dir, "-addr", cmp.Or(n.address, "127.0.0.1:0")}, n.args...)
	n.command = exec.Command(fleetd, args...)
	output := must(n.command.StdoutPipe())(n.t)
	log := must(os.OpenFile(n.dir+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(n.t)
	defer log.Close()
	n.command.Stderr = log
	if err := n.command.Start(); err != nil {
		n.t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "://"); ok {
			n.address = address
			go func() { // until the process ends
				for lines.Scan() {
				}
			}()
			return
		}
	}
	n.command.Wait()
	text, _ := os.ReadFile(n.dir + ".log")
	n.t.Fatalf("the server does not start: %s", text)
}

func (n *node) kill() {
	n.command.Process.Kill()
	n.command.Wait()
}

// stop ends the process as a supervisor does.
func (n *node) stop() {
	n.t.Helper()
	n.command.Process.Signal(os.Interrupt)
	if err := n.command.Wait(); err != nil {
		n.t.Errorf("the server ended with %v", err)
	}
}

func (n *node) url() string {
	if n.ca != "" {
		return "https://" + n.address
	}
	return "http://" + n.address
}

// client returns a client of the node with the token of an administrator.
func (n *node) client() *fleet.Client {
	return newClientWith(n.t, n.url(), fleet.ClientOptions{TokenFile: n.token(), CAFile: n.ca})
}

// newClient returns a client that is closed when the test ends.
func newClient(t testing.TB, servers, tokenFile string) *fleet.Client {
	t.Helper()
	return newClientWith(t, servers, fleet.ClientOptions{TokenFile: tokenFile})
}

func newClientWith(t testing.TB, servers string, options fleet.ClientOptions) *fleet.Client {
	t.Helper()
	c := must(fleet.NewClient(servers, options))(t)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// run runs a command of fleetd, and returns its output and error in one text.
func (n *node) run(args ...string) (string, error) {
	command := exec.Command(fleetd, args...)
	command.Env = append(os.Environ(), "FLEETD_SERVER="+n.url(), "FLEETD_TOKEN_FILE="+n.token())
	output, err := command.CombinedOutput()
	return string(output), err
}

// team is the publisher and the controller of the name "table".
type team struct {
	*fleet.Publisher
	*fleet.Controller
	client *fleet.Client
}

func newTeam(t testing.TB, c *fleet.Client, options fleet.PublisherOptions) *team {
	t.Helper()
	options.New = true
	return &team{must(fleet.NewPublisher(c, "table", options))(t), must(fleet.NewController(c, "table"))(t), c}
}

// publish publishes a text.
func (m *team) publish(t testing.TB, text string) (fleet.Revision, *fleet.Plan) {
	t.Helper()
	r, plan, err := m.Publish(t.Context(), strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return r, plan
}

// await waits until all replicas follow a plan.
func (m *team) await(t testing.TB, plan *fleet.Plan) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	if _, err := m.Await(ctx, plan); err != nil {
		t.Fatal(err)
	}
}

const size = 3

// freeAddress returns an address that nothing listens at, whose port is below those that
// systems give to connections that go out: a node has to find it free again after a
// restart.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10_000+mathrand.IntN(20_000))
		if free, err := net.Listen("tcp", address); err == nil {
			free.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// newCluster returns the nodes of a running cluster.
func newCluster(t testing.TB) []*node {
	t.Helper()
	ca := newAuthority(t)
	var nodes []*node
	var listen []string
	for range size {
		listen = append(listen, freeAddress(t))
	}
	for i := range size {
		name := string(rune('a' + i))
		cert, key := ca.issue(name)
		nodes = append(nodes, &node{t: t, dir: filepath.Join(t.TempDir(), name), args: []string{
			"-node", name, "-cluster", listen[i], "-route", strings.Join(listen, ","), "-cluster-cert", cert, "-cluster-key", key, "-cluster-ca", ca.file,
		}})
	}
	return nodes
}

// startAll starts the nodes of a cluster, and returns their URLs and the file of a token.
func startAll(t testing.TB, nodes []*node) (servers, token string) {
	t.Helper()
	var urls []string
	for _, n := range nodes {
		n.start()
		t.Cleanup(n.kill)
		urls = append(urls, n.url())
	}
	eventually(t, "there is a token", func() bool {
		for _, n := range nodes {
			if _, err := os.Stat(n.token()); err == nil {
				token = n.token()
			}
		}
		return token != ""
	})
	for _, n := range nodes {
		n.awaitToken(token)
	}
	return strings.Join(urls, ","), token
}

func (n *node) awaitReady() {
	n.t.Helper()
	eventually(n.t, "the node is ready", func() bool {
		response, err := http.Get(n.url() + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// authority makes certificates for 127.0.0.1.
type authority struct {
	t    testing.TB
	dir  string
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.file, _ = a.issue("ca")
	return a
}

// issue writes the files of a certificate. The first is that of the authority.
func (a *authority) issue(name string) (cert, key string) {
	a.t.Helper()
	private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: a.cert == nil,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if a.cert == nil {
		a.cert, a.key = template, private
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key))(a.t)
	write := func(file, kind string, der []byte) string {
		file = filepath.Join(a.dir, file)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			a.t.Fatal(err)
		}
		return file
	}
	return write(name+".pem", "CERTIFICATE", der), write(name+".key", "EC PRIVATE KEY", must(x509.MarshalECPrivateKey(private))(a.t))
}
