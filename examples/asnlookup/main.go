// Command asnlookup answers which autonomous system an IP address belongs to,
// and replaces its table under full load when the file changes: an example of
// package poolswap on real data. See README.md.
package main

import (
	"context"
	"errors"
	"expvar"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Exit statuses.
const (
	statusOK     = 0
	statusFailed = 1
	statusUsage  = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it is called once in a process.
func run(args []string, stdout, stderr io.Writer) int {
	c, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return statusOK
	case err != nil:
		return statusUsage
	}
	log := log.New(stderr, "asnlookup: ", log.LstdFlags|log.Lmsgprefix)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process at once

	if c.load > 0 {
		err = measure(ctx, c, stdout, log)
	} else {
		err = start(ctx, c, log)
	}
	if err != nil {
		log.Print(err)
		return statusFailed
	}
	return statusOK
}

// start loads the first table and serves until ctx is done.
func start(ctx context.Context, c config, log *log.Logger) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before the first load, which it must not kill
	defer signal.Stop(hangups)

	s := newService(c.source(), c.overlaps, log)
	expvar.Publish("asnlookup", s.counts.vars(s.pool))
	if err := s.reloader.reload("start"); err != nil {
		return errors.New("there is no table to serve")
	}
	listener, err := net.Listen("tcp", c.addr)
	if err != nil {
		return err
	}
	var ticks <-chan time.Time
	if c.watch > 0 {
		ticker := time.NewTicker(c.watch)
		defer ticker.Stop()
		ticks = ticker.C
	}
	return s.serve(ctx, listener, ticks, hangups)
}
