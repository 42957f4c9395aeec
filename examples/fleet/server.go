package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

const (
	headerTime = 5 * time.Second

	// graceTime bounds how long the requests that are left may take at the end. It
	// is longer than the five seconds for which net/http waits for the first request
	// of a connection.
	graceTime = 10 * time.Second
)

// serve follows source and answers at listener until ctx ends. Then it finishes
// the requests that it has, and waits until every table is back.
func serve(ctx context.Context, listener net.Listener, source reload.Source, maxLoss float64, options reload.Options) error {
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, (*table).reset, poolswap.Options[table]{
		MaxLive: 4, // the current one, the next, and two that slow requests may hold
		Report:  func(err error) { slog.Error(err.Error()) },
	})
	tables := poolswap.NewEmptyContainer(pool)
	options.Stats = pool.Stats
	reloader := reload.New(tables, source, loader(maxLoss), options)
	ctx, stop := context.WithCancel(ctx)
	var reloads sync.WaitGroup
	reloads.Go(func() { _ = reloader.Run(ctx) }) // ends with ctx alone

	web := &http.Server{Handler: handler(tables, reloader), ReadHeaderTimeout: headerTime}
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	var err error
	select {
	case err = <-served: // which it should not
	case <-ctx.Done():
	}
	stop()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	err = errors.Join(err, web.Shutdown(grace))
	reloads.Wait()
	return errors.Join(err, pool.Close(grace)) // a HeldError says which tables are held
}

func handler(tables *poolswap.Container[table, *table], status http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /status", status) // it may quote content: serve it where operators are
	// A replica with a table is ready, however old that is: while the server is down,
	// a balancer must not lose every replica. Alerts are for old tables.
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if tables.Version() == 0 {
			http.Error(w, "no table is loaded yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ready")
	})
	mux.HandleFunc("GET /lookup", func(w http.ResponseWriter, r *http.Request) {
		var ips []netip.Addr
		for _, text := range r.URL.Query()["ip"] {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			ips = append(ips, ip.Unmap().WithZone(""))
		}
		a, ok := lookup(tables, ips)
		switch {
		case len(ips) == 0:
			http.Error(w, "give one address or more, as in /lookup?ip=192.0.2.1&ip=2001:db8::1", http.StatusBadRequest)
		case !ok:
			http.Error(w, "no table is loaded yet", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(a) // fails if the client has gone
		}
	})
	return mux
}

// response is the answer for the addresses of one request.
type response struct {
	Revision string  `json:"revision"` // that was published
	Version  uint64  `json:"version"`  // of the table, in this process
	Answers  []found `json:"answers"`
}

// found is the answer for one address. One in no range has the number 0.
type found struct {
	IP   netip.Addr `json:"ip"`
	ASN  uint32     `json:"asn"`
	Name string     `json:"name"`
}

// lookup answers for all addresses from one table, which it holds no longer than
// that: not while a slow client is written to. So it copies the names.
func lookup(tables *poolswap.Container[table, *table], ips []netip.Addr) (r response, ok bool) {
	t := tables.Acquire()
	defer tables.Release(t)
	if t == nil {
		return r, false
	}
	r.Revision, r.Version = t.revision, tables.VersionOf(t)
	for _, ip := range ips {
		asn, name := t.lookup(ip)
		r.Answers = append(r.Answers, found{ip, asn, string(name)})
	}
	return r, true
}
