package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

var scratch string // a directory for fleetd

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "fleetd-browser-"); err != nil {
		panic(err)
	}
	code := m.Run()
	end()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// fleetd builds the command once, and returns its name.
var fleetd = sync.OnceValues(func() (string, error) {
	name := filepath.Join(scratch, "fleetd")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", name, ".")
	command.Dir, command.Stderr = "../../fleet/fleetd", os.Stderr
	return name, command.Run()
})

// daemon is a process of fleetd serve.
type daemon struct {
	t     *testing.T
	url   string // without the last slash
	admin *fleet.Client
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{t: t}
	name, err := fleetd()
	d.check(err)
	process := exec.CommandContext(t.Context(), name, "serve", "-addr", "127.0.0.1:0", "-dir", t.TempDir())
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.WaitDelay = hang
	var stderr bytes.Buffer
	process.Stderr = &stderr
	out, err := process.StdoutPipe()
	d.check(err)
	d.check(process.Start())
	t.Cleanup(func() { // the context of the test has ended
		if err := process.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("fleetd serve: %v, %s", err, &stderr)
		}
	})
	file := ""
	for lines := bufio.NewScanner(out); file == "" && lines.Scan(); {
		if at, ok := strings.CutPrefix(lines.Text(), "serving at "); ok {
			d.url = strings.TrimSuffix(at, "/")
		}
		file, _ = strings.CutPrefix(lines.Text(), "the token of an administrator is in ")
		if file == lines.Text() {
			file = ""
		}
	}
	if d.url == "" || file == "" {
		t.Fatalf("fleetd serve does not say where it serves, or where its token is: %s", &stderr)
	}
	d.admin, err = fleet.NewClient(d.url, fleet.ClientOptions{TokenFile: file})
	d.check(err)
	return d
}

func (d *daemon) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// token makes a token for all names.
func (d *daemon) token(name string, role fleet.Role) string {
	d.t.Helper()
	t := fleet.Token{Name: name, Role: role, Names: "*"}
	if role == fleet.ReplicaRole {
		t.IDs = "*"
	}
	made, err := d.admin.NewToken(d.t.Context(), t)
	d.check(err)
	return made.Text
}

func (d *daemon) client(name string, role fleet.Role) *fleet.Client {
	d.t.Helper()
	client, err := fleet.NewClient(d.url, fleet.ClientOptions{Token: d.token(name, role)})
	d.check(err)
	d.t.Cleanup(client.CloseIdleConnections)
	return client
}

// publisher returns a Publisher of a name.
func (d *daemon) publisher(name string) *fleet.Publisher {
	d.t.Helper()
	p, err := fleet.NewPublisher(d.client("nightly build", fleet.PublisherRole), name, fleet.PublisherOptions{New: true})
	d.check(err)
	return p
}

// controller returns a Controller of a name, for another person.
func (d *daemon) controller(name string) *fleet.Controller {
	d.t.Helper()
	c, err := fleet.NewController(d.client("bob", fleet.OperatorRole), name)
	d.check(err)
	return c
}

func (d *daemon) publish(p *fleet.Publisher, text, why string) string {
	d.t.Helper()
	r, _, err := p.Publish(d.t.Context(), strings.NewReader(text), why)
	d.check(err)
	return r.ID
}

func (d *daemon) storeContent(p *fleet.Publisher, text string) string {
	d.t.Helper()
	r, err := p.Store(d.t.Context(), strings.NewReader(text))
	d.check(err)
	return r.ID
}

// replica starts a replica of a name, and returns a function for the text that its
// readers get.
func (d *daemon) replica(name, id string) func() string {
	d.t.Helper()
	var reports atomic.Uint64
	source, err := fleet.NewSource(d.client("replica", fleet.ReplicaRole), name, fleet.SourceOptions{
		ID: id, Labels: map[string]string{"region": "eu"}, ReportEvery: time.Second, Logger: slog.New(slog.DiscardHandler),
		Health: func() fleet.Health {
			n := reports.Add(1)
			return fleet.Health{Requests: 1000 * n, Errors: n, Latency: 1900 * time.Microsecond}
		},
	})
	d.check(err)
	tables := poolswap.NewEmptyContainer(poolswap.NewPool(func() *table { return new(table) }, nil))
	r := reload.New(tables, source, load, reload.Options{Observe: source.Observe, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.Run(ctx)
	}()
	d.t.Cleanup(func() {
		cancel()
		<-ended
	})
	return func() (text string) {
		tables.WithAcquire(func(one *table) {
			if one != nil {
				text = string(one.text)
			}
		})
		return text
	}
}
