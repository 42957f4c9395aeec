package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/browser"
)

// hang only turns a hang into a failure.
const hang = time.Minute

var fleetd string // the command

func TestMain(m *testing.M) {
	code := build(m)
	browser.Stop()
	os.Exit(code)
}

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fleetd-browser-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	fleetd = filepath.Join(dir, "fleetd")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", fleetd, ".")
	command.Dir, command.Stderr = "..", os.Stderr
	if err := command.Run(); err != nil {
		panic(err)
	}
	return m.Run()
}

// daemon is a process of fleetd serve.
type daemon struct {
	t         *testing.T
	dir       string
	nats, url string // of the page, without the last slash
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{t: t, dir: t.TempDir()}
	process := exec.CommandContext(t.Context(), fleetd, "serve", "-addr", "127.0.0.1:0", "-page", "127.0.0.1:0", "-dir", d.dir)
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.WaitDelay = hang
	var stderr bytes.Buffer
	process.Stderr = &stderr
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
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

// secret returns the password of a user.
func (d *daemon) secret(user string) string {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, user+".password"))
	if err != nil {
		d.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func (d *daemon) dial(user string) *nats.Conn {
	d.t.Helper()
	conn, err := nats.Connect(d.nats, nats.UserInfo(user, d.secret(user)), nats.MaxReconnects(-1))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(conn.Close)
	return conn
}

// publisher returns a Publisher of a name.
func (d *daemon) publisher(name string) *fleet.Publisher {
	d.t.Helper()
	p, err := fleet.NewPublisher(d.dial("publisher"), name, fleet.PublisherOptions{By: "nightly build"})
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *daemon) publish(p *fleet.Publisher, text, why string) string {
	d.t.Helper()
	r, _, err := p.Publish(d.t.Context(), strings.NewReader(text), why)
	if err != nil {
		d.t.Fatal(err)
	}
	return r.ID
}

func (d *daemon) storeContent(p *fleet.Publisher, text string) string {
	d.t.Helper()
	r, err := p.Store(d.t.Context(), strings.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return r.ID
}

// table is what replicas run.
type table struct {
	poolswap.Ref
	text string
}

// load refuses content that begins with "bad".
func load(_ context.Context, next, _ *table, content *reload.Content) error {
	text, err := io.ReadAll(content.Body)
	next.text = string(text)
	if err == nil && strings.HasPrefix(next.text, "bad") {
		err = errors.New(next.text)
	}
	return err
}

// replica starts a replica of a name, and returns what its readers get.
func (d *daemon) replica(name, id string) func() string {
	d.t.Helper()
	source, err := fleet.NewSource(d.dial("replica"), name, fleet.SourceOptions{ID: id})
	if err != nil {
		d.t.Fatal(err)
	}
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
				text = one.text
			}
		})
		return text
	}
}
