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
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

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
	t         *testing.T
	dir       string
	nats, url string // of the page, without the last slash
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{t: t, dir: t.TempDir()}
	name, err := fleetd()
	d.check(err)
	process := exec.CommandContext(t.Context(), name, "serve", "-addr", "127.0.0.1:0", "-page", "127.0.0.1:0", "-dir", d.dir)
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
	for lines := bufio.NewScanner(out); d.url == "" && lines.Scan(); {
		if at, ok := strings.CutPrefix(lines.Text(), "serving at "); ok {
			d.nats = at
		}
		if at, ok := strings.CutPrefix(lines.Text(), "page at "); ok {
			d.url = strings.TrimSuffix(at, "/")
		}
	}
	if d.url == "" {
		t.Fatalf("fleetd serve does not say where the page is: %s", &stderr)
	}
	return d
}

func (d *daemon) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// secret returns the password of a user.
func (d *daemon) secret(user string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, user+".password"))
	d.check(err)
	return strings.TrimSpace(string(text))
}

func (d *daemon) dial(user string) *nats.Conn {
	d.t.Helper()
	conn, err := nats.Connect(d.nats, nats.UserInfo(user, d.secret(user)), nats.MaxReconnects(-1))
	d.check(err)
	d.t.Cleanup(conn.Close)
	return conn
}

// publisher returns a Publisher of a name.
func (d *daemon) publisher(name string) *fleet.Publisher {
	d.t.Helper()
	p, err := fleet.NewPublisher(d.dial("publisher"), name, fleet.PublisherOptions{By: "nightly build"})
	d.check(err)
	return p
}

// controller returns a Controller of a name, for another person.
func (d *daemon) controller(name string) *fleet.Controller {
	d.t.Helper()
	c, err := fleet.NewController(d.dial("publisher"), name, "bob")
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
	source, err := fleet.NewSource(d.dial("replica"), name, fleet.SourceOptions{ID: id})
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
