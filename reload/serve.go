package reload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"
)

// DefaultGrace is ServeOptions.Grace if it is zero.
const DefaultGrace = 10 * time.Second

// ServeOptions configure [Serve]. The zero ServeOptions will do.
type ServeOptions struct {
	// Listener is where the server accepts connections. Serve closes it. nil stands
	// for a TCP listener at the server's Addr.
	Listener net.Listener

	// Grace bounds how long open requests may take to finish, and after them Run and
	// Close together; 0 stands for DefaultGrace.
	Grace time.Duration

	// Close, if not nil, is called last: the Close method of the pool, or a function
	// that closes several. Its ctx ends with Grace.
	Close func(ctx context.Context) error
}

// Serve runs server and each Reloader until ctx ends. Then it stops accepting
// connections, waits for open requests, ends Run, and calls Close, in this order: no
// request finds its container closed. It does so, too, if the server fails or is closed,
// or Run ends because its container was closed. The server speaks TLS if it has a TLSConfig.
//
// Serve returns nil if ctx ended and the rest was done within Grace, and otherwise all
// errors, joined: of the listener, the server, open requests, each Run, and Close. If
// requests are open after Grace, it closes their connections, which ends their
// contexts. It returns no later than two seconds after twice Grace; a handler, load or
// Close that hangs goes on.
//
// Serve panics if ctx, server or a Reloader is nil, or Grace is negative. A Reloader
// must not run already.
func Serve(ctx context.Context, server *http.Server, options ServeOptions, reloaders ...*Reloader) error {
	switch {
	case ctx == nil:
		panic("reload: Serve with a nil Context")
	case server == nil:
		panic("reload: Serve with a nil Server")
	case options.Grace < 0:
		panic("reload: Serve with a negative Grace")
	case slices.Contains(reloaders, nil):
		panic("reload: Serve with a nil Reloader")
	}
	options.Grace = cmp.Or(options.Grace, DefaultGrace)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	errs, runs := serveUntil(ctx, running, server, options, reloaders)

	stop()
	last, cancel := newGrace(ctx, options.Grace)
	defer cancel()
	for _, run := range runs {
		if err := run.wait(last.ctx); !errors.Is(err, context.Canceled) {
			errs = append(errs, err)
		}
	}
	if options.Close != nil {
		errs = append(errs, last.within("Close", options.Close))
	}
	return errors.Join(errs...)
}

// serveUntil serves until ctx ends or something else does, and until requests have
// finished. Each run goes on until running ends.
func serveUntil(ctx, running context.Context, server *http.Server, options ServeOptions, reloaders []*Reloader) (errs []error, runs []*task) {
	listener, err := options.Listener, error(nil)
	if listener == nil && ctx.Err() == nil {
		listener, err = net.Listen("tcp", cmp.Or(server.Addr, ":http"))
	}
	switch {
	case err != nil:
		return []error{err}, nil
	case ctx.Err() != nil:
		if listener != nil {
			listener.Close()
		}
		return nil, nil
	}
	until, end := context.WithCancel(ctx)
	defer end()
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(listener net.Listener) error {
			defer listener.Close() // ServeTLS does not if it has no certificate
			return server.ServeTLS(listener, "", "")
		}
	}
	served := begin("the server", end, func() error { return serve(listener) })
	for _, r := range reloaders {
		runs = append(runs, begin("Run of "+r.name, end, func() error { return r.Run(running) }))
	}
	<-until.Done()
	shut := served.hasEnded() && ctx.Err() == nil // by another than Serve

	first, cancel := newGrace(ctx, options.Grace)
	defer cancel()
	if err := first.within("Shutdown", server.Shutdown); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("reload: Serve: requests are open after %v: %w", options.Grace, err)
		}
		errs = append(errs, err)
		server.Close()
	}
	if err := served.wait(first.limit); shut || !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, err)
	}
	return errs, runs
}

// task is a call on a goroutine of its own.
type task struct {
	name string
	done chan struct{} // closed when it has returned
	err  error         // valid then
}

// begin begins a task, which calls ended at its end.
func begin(name string, ended func(), call func() error) *task {
	t := &task{name: name, done: make(chan struct{}), err: fmt.Errorf("reload: Serve: %s called runtime.Goexit", name)}
	go func() {
		defer ended()
		defer close(t.done)
		t.err = call()
	}()
	return t
}

// hasEnded reports whether the task has returned.
func (t *task) hasEnded() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// wait returns the error of the task, or one that says that it goes on if limit ends
// first.
func (t *task) wait(limit context.Context) error {
	select {
	case <-t.done:
	case <-limit.Done():
		if !t.hasEnded() {
			return fmt.Errorf("reload: Serve: %s does not return: %w", t.name, limit.Err())
		}
	}
	return t.err
}

// grace is the time of a step of the end.
type grace struct {
	ctx   context.Context // for calls that heed it
	limit context.Context // of the wait for them
}

func newGrace(ctx context.Context, d time.Duration) (g grace, cancel func()) {
	ctx, cancelCtx := context.WithTimeout(context.WithoutCancel(ctx), d)
	limit, cancelLimit := context.WithTimeout(context.WithoutCancel(ctx), d+time.Second)
	return grace{ctx, limit}, func() { cancelCtx(); cancelLimit() }
}

// within calls call, and waits for it until the limit.
func (g grace) within(name string, call func(context.Context) error) error {
	return begin(name, func() {}, func() error { return call(g.ctx) }).wait(g.limit)
}
