// Command geodb looks IP addresses up in a MaxMind database. It maps
// the file into memory and swaps the mapping under load when the file is
// replaced. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	path := flag.String("db", "", "MaxMind database `file`, such as GeoLite2-City.mmdb")
	addr := flag.String("addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	poll := flag.Duration("poll", 5*time.Second, "look for a new file at this `interval`")
	flag.Parse()
	if *path == "" || *poll <= 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := newService(*path, *poll).run(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends, from the start, so that the status shows an error of the
// first load. It then stops the readers, so that no request finds the database gone,
// and unmaps the database when its last reader is done.
func (s *service) run(ctx context.Context, addr string) error {
	ctx, stop := context.WithCancel(ctx)
	var reloads sync.WaitGroup
	reloads.Go(func() { _ = s.reloader.Run(ctx) }) // ends with its ctx

	err := s.serve(ctx, addr)
	stop()
	reloads.Wait()
	deadline, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	err = errors.Join(err, s.pool.Close(deadline))
	log.Printf("stopped; databases still mapped: %d", s.pool.Stats().Live)
	return err
}

// serve answers requests until ctx ends.
func (s *service) serve(ctx context.Context, addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /lookup", s)
	mux.Handle("GET /status", s.reloader)
	web := &http.Server{Handler: mux, ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	log.Printf("serving on http://%s", listener.Addr())
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	return errors.Join(err, web.Shutdown(deadline))
}
