package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

const (
	// maxTables bounds memory: the current table, one that is being filled, and
	// two that slow readers still hold. If readers hold more, a reload waits for
	// limitTime, fails, and the next poll tries again.
	maxTables = 4
	limitTime = 5 * time.Second

	// graceTime is how long requests may take at shutdown to finish and to give
	// their tables back.
	graceTime = 5 * time.Second
)

// service is the whole program: the container, the writer and the readers.
type service struct {
	pool     *poolswap.Pool[table, *table]
	tables   *poolswap.Container[table, *table]
	loader   *loader
	reloader *reload.Reloader
	every    time.Duration // between polls; 0: none
	metrics  *metrics
	handler  http.Handler
	grace    time.Duration
	log      *slog.Logger
}

func newService(paths []string, every time.Duration, maxShrink int, log *slog.Logger) *service {
	pool := poolswap.NewPoolWithOptions(newTable, (*table).reset, poolswap.Options[table]{
		MaxLive: maxTables,
		Report:  func(err error) { log.Error(err.Error()) },
	})
	tables := poolswap.NewEmptyContainer(pool)
	metrics := new(metrics)
	metrics.answers.Init()
	metrics.reloads.Init()
	loader := &loader{maxShrink: maxShrink, parser: newParser(), log: log}
	reloader := reload.New(tables, filesOf(paths), loader.load, reload.Options{
		Every:      every,
		ObjectWait: limitTime,
		MaxBytes:   maxBytes,
		Logger:     log,
		Stats:      pool.Stats,
		Observe:    metrics.observe,
	})
	return &service{
		pool:     pool,
		tables:   tables,
		loader:   loader,
		reloader: reloader,
		every:    every,
		metrics:  metrics,
		handler:  (&server{tables, reloader, metrics}).handler(),
		grace:    graceTime,
		log:      log,
	}
}

// run loads the first table and serves until ctx ends.
func (s *service) run(ctx context.Context, addr string, signals <-chan os.Signal) error {
	err := s.reloader.Reload(ctx)
	switch {
	case ctx.Err() != nil:
		s.log.Info("stopped before the first table was served")
		return nil //nolint:nilerr // a program that is stopped has not failed
	case err != nil:
		return errors.New("there is no table to serve")
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return s.serve(ctx, listener, signals)
}

// serve answers requests until ctx ends. It then stops the readers, so that no
// request finds the table gone, then the reloads, and closes the pool. It returns
// an error if the server failed, or if requests did not finish or tables did not
// come back in time.
func (s *service) serve(ctx context.Context, listener net.Listener, signals <-chan os.Signal) error {
	reloadCtx, stopReloads := context.WithCancel(context.WithoutCancel(ctx))
	var reloads sync.WaitGroup
	if s.every > 0 {
		reloads.Go(func() { _ = s.reloader.Run(reloadCtx) }) // ends with its ctx
	}
	reloads.Go(func() { s.reloadAt(reloadCtx, signals) })

	web := &http.Server{
		Handler:      s.handler,
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
		ErrorLog:     slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	s.log.Info("serving", "url", "http://"+listener.Addr().String())

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		s.log.Info("shutting down")
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	if late := web.Shutdown(deadline); late != nil {
		err = errors.Join(err, fmt.Errorf("requests did not finish within %v: %w", s.grace, late), web.Close())
	}
	s.log.Info("server stopped")

	stopReloads() // also ends one that is under way
	reloads.Wait()
	s.log.Info("reloads stopped")

	err = errors.Join(err, s.pool.Close(deadline)) // a HeldError says which tables are held
	s.log.Info(fmt.Sprintf("pool at exit: %+v", s.pool.Stats()))
	return err
}

// reloadAt reloads at each signal, until ctx ends.
func (s *service) reloadAt(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case signal := <-signals:
			s.log.Info("reloading", "signal", signal.String())
			_ = s.reloader.Reload(ctx) // logs its error
		}
	}
}
