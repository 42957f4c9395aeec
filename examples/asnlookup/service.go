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

const (
	// maxTables bounds memory: the current table, one that is being filled, and
	// two that slow readers still hold. If readers hold more, a reload waits for
	// limitTime, fails, and the next poll tries again.
	maxTables = 4

	// graceTime is how long requests may take at shutdown to finish and to give
	// their tables back.
	graceTime = 5 * time.Second
)

// service is the whole program: the container, the writer and the readers.
type service struct {
	pool    *poolswap.Pool[table, *table]
	tables  *poolswap.Container[table, *table]
	writer  *writer
	metrics *metrics
	handler http.Handler
	grace   time.Duration
	log     *log.Logger
}

func newService(paths []string, maxShrink int, log *log.Logger) *service {
	pool := poolswap.NewPoolWithOptions(newTable, (*table).reset, poolswap.Options[table]{
		MaxLive: maxTables,
		Report:  func(err error) { log.Print(err) },
	})
	tables := poolswap.NewEmptyContainer(pool)
	metrics := new(metrics)
	metrics.answers.Init()
	return &service{
		pool:   pool,
		tables: tables,
		writer: &writer{
			tables: tables, paths: paths, maxShrink: maxShrink,
			metrics: metrics, log: log, parser: newParser(),
		},
		metrics: metrics,
		handler: (&server{tables, metrics}).handler(),
		grace:   graceTime,
		log:     log,
	}
}

// run loads the first table and serves until ctx ends.
func (s *service) run(ctx context.Context, addr string, ticks <-chan time.Time, signals <-chan os.Signal) error {
	err := s.writer.reload(ctx, "start")
	switch {
	case ctx.Err() != nil:
		s.log.Print("stopped before the first table was served")
		return nil //nolint:nilerr // a program that is stopped has not failed
	case err != nil:
		return errors.New("there is no table to serve")
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return s.serve(ctx, listener, ticks, signals)
}

// serve answers requests until ctx ends. It then stops the readers, so that no
// request finds the table gone, then the writer, and closes the pool. It returns
// an error if the server failed, or if requests did not finish or tables did not
// come back in time.
func (s *service) serve(ctx context.Context, listener net.Listener, ticks <-chan time.Time, signals <-chan os.Signal) error {
	watchCtx, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	var watcher sync.WaitGroup
	watcher.Go(func() { s.writer.watch(watchCtx, ticks, signals) })

	web := &http.Server{
		Handler:      s.handler,
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
		ErrorLog:     s.log,
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
		err = errors.Join(err, fmt.Errorf("requests did not finish within %v: %w", s.grace, late), web.Close())
	}
	s.log.Print("server stopped")

	stopWatching() // also ends a reload that is under way
	watcher.Wait()
	s.log.Print("watcher stopped")

	err = errors.Join(err, s.pool.Close(deadline)) // a HeldError says which tables are held
	s.log.Printf("pool at exit: %+v", s.pool.Stats())
	return err
}
