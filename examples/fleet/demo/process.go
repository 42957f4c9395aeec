package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
func start(ctx context.Context, log, program string, args ...string) *process {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(err)
	defer file.Close()
	p := &process{command: exec.CommandContext(ctx, program, args...), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = file, file
	must(p.command.Start())
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return p
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

	restart sync.RWMutex // locked while the process is replaced: no balancer sends requests there
}

// stop asks a replica to end, and returns an error unless it ends well.
func (r *replica) stop() error {
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if <-r.ended; r.err != nil {
		return fmt.Errorf("%s was asked to end: %w", r.id, r.err)
	}
	return nil
}

// until waits until done reports true, five minutes at most.
func (d *demo) until(ctx context.Context, what string, done func() bool) {
	for began := time.Now(); !done(); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil || time.Since(began) > 5*time.Minute {
			must(fmt.Errorf("it did not come about that %s", what))
		}
	}
}

// prepare builds the programs, and makes the first edition and the flags.
func (d *demo) prepare(ctx context.Context) {
	d.fleetd, d.program = d.file("fleetd"), d.file("replica")
	text, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	must(err)
	root := filepath.Dir(strings.TrimSpace(string(text)))
	d.build(ctx, d.program, filepath.Join(root, "examples", "fleet"))
	d.say("The first build of fleetd compiles the server of NATS: that takes a minute or two.")
	d.build(ctx, d.fleetd, filepath.Join(root, "fleet", "fleetd"))
	d.current = newEdition(d.rows)
	must(os.WriteFile(d.file("table.csv"), d.current.all().Bytes(), 0o600))
	d.say("%d rows. Each names the edition that changed it last, so that an answer tells of which it is.", d.rows)
	public, private, err := ed25519.GenerateKey(nil)
	must(err)
	d.key = private
	must(os.WriteFile(d.file("publisher.key"), []byte(base64.StdEncoding.EncodeToString(private)), 0o600))
	d.address = freeAddress()
	for i := range 3 {
		id, address := fmt.Sprintf("r%d", i+1), freeAddress()
		d.replicas = append(d.replicas, &replica{id: id, url: "http://" + address, args: []string{
			"-id", id, "-addr", address, "-dir", d.file(id + ".spool"), "-server", "http://" + d.address,
			"-token-file", d.file(id + ".token"), "-key", base64.StdEncoding.EncodeToString(public),
		}})
	}
}

// build builds a program, and says now and then that it goes on.
func (d *demo) build(ctx context.Context, program, dir string) {
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Second):
				d.say("It is still being compiled.")
			}
		}
	}()
	c := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	c.Dir = dir
	if text, err := c.CombinedOutput(); err != nil {
		must(fmt.Errorf("go build in %s: %w\n%s", dir, err, text))
	}
}

// freeAddress returns an address that a program can listen at, also a second time. So
// its port is not one of those that the system gives to connections.
func freeAddress() string {
	for {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if listener, err := net.Listen("tcp", address); err == nil {
			must(listener.Close())
			return address
		}
	}
}
