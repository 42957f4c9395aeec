package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
)

// maxTables bounds the memory of tables: the current one, one that is being
// filled, and two that slow readers still hold. Where readers hold more, a
// reload fails and is tried again later.
const maxTables = 4

// graceTime is how long requests that are under way at the end may take.
const graceTime = 5 * time.Second

// service is the whole program: the pool and the container, the writer, and
// the server that reads.
type service struct {
	pool     *poolswap.Pool[table, *table]
	tables   *poolswap.Container[table, *table]
	reloader *reloader
	handler  http.Handler
	counts   *counters
	grace    time.Duration
	log      *log.Logger
}

func newService(source source, overlaps int, log *log.Logger) *service {
	pool := poolswap.NewPoolWithOptions(newTable, (*table).reset, poolswap.Options[table]{
		MaxLive: maxTables,
		Report:  func(err error) { log.Print(err) },
	})
	tables := poolswap.NewEmptyContainer(pool)
	counts := new(counters)
	return &service{
		pool:   pool,
		tables: tables,
		reloader: &reloader{
			pool: pool, tables: tables, source: source, counts: counts, log: log,
			parser: newParser(overlaps),
		},
		handler: (&server{tables, counts}).handler(),
		counts:  counts,
		grace:   graceTime,
		log:     log,
	}
}

// serve serves on the listener, and reloads at ticks that see a change and at
// signals, until ctx is done. Then it shuts down in order: first the server, so
// that no request finds the table gone, then the writer, then the table, then
// the pool. It returns an error if the server failed, or if requests did not end
// in time.
func (s *service) serve(ctx context.Context, listener net.Listener, ticks <-chan time.Time, signals <-chan os.Signal) error {
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watcher sync.WaitGroup
	watcher.Go(func() { s.reloader.watch(watching, ticks, signals) })

	web := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          s.log,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	s.log.Printf("serving on http://%s", listener.Addr())

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		s.log.Print("shutting down")
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	if late := web.Shutdown(deadline); late != nil {
		err = errors.Join(err, fmt.Errorf("requests did not end within %v: %w", s.grace, late), web.Close())
	}
	s.log.Print("server stopped")

	stopWatching()
	watcher.Wait()
	s.log.Print("watcher stopped")

	s.empty(deadline)
	s.log.Printf("final accounts of the pool: %+v", s.pool.Stats())
	return err
}

// empty takes the table away and lets go of everything in the pool. A sweeper
// may still have a table in hand that the last request gave up, so it looks
// again until none is left, or until the deadline: requests that did not end
// in time keep theirs.
func (s *service) empty(deadline context.Context) {
	s.tables.Update(nil)
	s.log.Print("container emptied")
	for s.pool.Trim(); s.pool.Stats().Live > 0 && deadline.Err() == nil; s.pool.Trim() {
		time.Sleep(time.Millisecond)
	}
	s.log.Print("pool trimmed")
}
