package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a program that runs until it is killed or stopped.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when err is set
	err     error
}

// start starts a program that logs to a file.
func start(log, program string, args ...string) (*process, error) {
	file, err := os.Create(log)
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
	p.command.Process.Kill() //nolint:errcheck // it may have ended
	<-p.ended
}

// stop asks p to end, waits for that, and returns an error unless it ended well.
func (p *process) stop(ctx context.Context) error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := until(ctx, "a program ends when it is asked to", p.hasEnded); err != nil {
		return err
	}
	return p.err
}

// hasEnded reports whether p has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// freeAddress returns an address that a program can listen at, also a second time.
// So its port is not one of those that the system gives to connections.
func freeAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no free port was found")
}

// waitTime bounds how long the demo waits for one thing.
const waitTime = time.Minute

// until waits until done reports true. It fails at once if a process of those that
// must run has ended.
func until(ctx context.Context, what string, done func() bool, running ...*process) error {
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	defer cancel()
	for !done() {
		for _, p := range running {
			if p.hasEnded() {
				return fmt.Errorf("%s: %v has ended with %v", what, p.command.Args, p.command.ProcessState)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: that did not come about: %w", what, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
