package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// process is a program that runs until it is killed or stopped.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when err is set
	err     error
}

// start starts a program that appends to a log.
func start(log, program string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &process{command: exec.Command(program, args...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = file, file
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends p as kill -9 does, and waits for that.
func (p *process) kill() {
	if p != nil {
		p.command.Process.Kill() //nolint:errcheck // it may have ended
		<-p.ended
	}
}

// replica is one of the three.
type replica struct {
	*process
	id, url string
	args    []string

	// away is set while the process is replaced. If nothing listens then, or the
	// replica says that it is not ready, the answer has not failed: a balancer would
	// not have sent the request there. Every other failure counts.
	away atomic.Bool
}

// stop asks a replica to end, and returns an error unless it ends well.
func (d *demo) stop(ctx context.Context, r *replica) error {
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Minute):
		return fmt.Errorf("%s was asked to end, and did not", r.id)
	}
	if r.err != nil {
		return fmt.Errorf("%s was asked to end: %w", r.id, r.err)
	}
	return nil
}

// until waits until done reports true, a minute at most.
func (d *demo) until(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: that did not come about: %w", what, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// prepare builds the programs, and makes their data and their flags.
func (d *demo) prepare(ctx context.Context) error {
	d.fleetd, d.program = d.file("fleetd"), d.file("replica")
	text, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(text)))
	if err := d.build(ctx, d.program, filepath.Join(root, "examples", "fleet")); err != nil {
		return err
	}
	d.say("The first build of fleetd compiles the server of NATS: that takes a minute or two.")
	if err := d.build(ctx, d.fleetd, filepath.Join(root, "fleet", "fleetd")); err != nil {
		return err
	}
	if err := d.makeTables(ctx); err != nil {
		return err
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.file("publisher.key"), []byte(base64.StdEncoding.EncodeToString(private)), 0o600); err != nil {
		return err
	}
	if d.address, err = freeAddress(); err != nil {
		return err
	}
	for i := range 3 {
		id := fmt.Sprintf("r%d", i+1)
		address, err := freeAddress()
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, &replica{id: id, url: "http://" + address, args: []string{
			"-id", id, "-addr", address, "-dir", d.file(id + ".spool"), "-server", "http://" + d.address,
			"-token-file", d.file(id + ".token"), "-key", base64.StdEncoding.EncodeToString(public),
		}})
	}
	return nil
}

// build builds a program, and says every few seconds how far it is.
func (d *demo) build(ctx context.Context, program, dir string) error {
	c := exec.CommandContext(ctx, "go", "build", "-v", "-o", program, ".")
	c.Dir = dir
	progress := &progress{said: time.Now(), say: func(packages int) { d.say("%d packages are compiled", packages) }}
	c.Stderr = progress
	if err := c.Run(); err != nil {
		return fmt.Errorf("go build in %s: %w\n%s", dir, err, progress.text)
	}
	return nil
}

// progress counts the packages that go build -v names, one a line.
type progress struct {
	text []byte
	n    int
	said time.Time
	say  func(packages int)
}

// Write implements io.Writer.
func (p *progress) Write(text []byte) (int, error) {
	p.text = append(p.text, text...)
	p.n += strings.Count(string(text), "\n")
	if time.Since(p.said) > 5*time.Second {
		p.say(p.n)
		p.said = time.Now()
	}
	return len(text), nil
}

// freeAddress returns an address that a program can listen at, also a second time. So
// its port is not one of those that the system gives to connections.
func freeAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port was found")
}
