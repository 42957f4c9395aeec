package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// serve follows source and answers at listener until ctx ends. Then it finishes the
// requests that it has, and waits until every table is back.
func serve(ctx context.Context, listener net.Listener, source reload.Source, maxLoss float64, options reload.Options) error {
	tables, err := newLog(func(err error) { slog.Error(err.Error()) })
	if err != nil {
		return err
	}
	options.Stats = tables.Pool().Stats
	reloader := reload.NewLog(tables, source, decode, reload.LogOptions[table]{
		Options: options, Digest: (*table).digest, Check: check(maxLoss),
	})
	server := &http.Server{Handler: handler(tables, reloader), ReadHeaderTimeout: 5 * time.Second}
	return reload.Serve(ctx, server, reload.ServeOptions{Listener: listener, Close: tables.Pool().Close}, reloader)
}

func handler(tables *tableLog, reloader *reload.Reloader) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /status", reloader) // it may quote content: serve it where operators are
	// A replica with a table is ready, however old that is: while the server is down,
	// a balancer must not lose every replica. Alerts are for old tables.
	mux.Handle("GET /ready", reload.Ready(reloader))
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
		a := lookup(tables, ips)
		switch {
		case len(ips) == 0:
			http.Error(w, "give one address or more, as in /lookup?ip=192.0.2.1&ip=2001:db8::1", http.StatusBadRequest)
		case a.Revision == "":
			http.Error(w, "no table is loaded yet", http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(a) // fails if the client has gone
		}
	})
	// Its client holds a table: serve it where operators are, too.
	mux.HandleFunc("GET /table", func(w http.ResponseWriter, _ *http.Request) { writeTable(w, tables) })
	return mux
}

// response is the answer for the addresses of one request.
type response struct {
	Revision string  `json:"revision"` // that was published
	Version  uint64  `json:"version"`  // of the table, in this process
	Answers  []found `json:"answers"`
}

// found is the answer for one address. One in no network of the table has the number 0.
type found struct {
	IP   netip.Addr `json:"ip"`
	ASN  uint64     `json:"asn"`
	Name string     `json:"name"`
}

// lookup answers for all addresses from one table, which it holds no longer than that:
// not while a slow client is written to. So it copies the names.
func lookup(tables *tableLog, ips []netip.Addr) (r response) {
	t := tables.Container().Acquire()
	defer tables.Container().Release(t)
	if t == nil { // at the end of the process
		return r
	}
	r.Revision, r.Version = t.revision, tables.Container().VersionOf(t)
	for _, ip := range ips {
		asn, name := t.lookup(ip)
		r.Answers = append(r.Answers, found{ip, asn, strings.Clone(name)})
	}
	return r
}

// writeTable writes all rows of the current table. It holds that until the client has
// them: meanwhile each change takes a third table.
func writeTable(w http.ResponseWriter, tables *tableLog) {
	t := tables.Container().Acquire()
	defer tables.Container().Release(t)
	if t == nil {
		return
	}
	w.Header().Set("Revision", t.revision)
	rows := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintln(rows, strings.Join(columns, ","))
	for network, system := range t.systems.All() {
		if _, err := fmt.Fprintf(rows, "%s,%s\n", network, system); err != nil {
			return // the client has gone
		}
	}
	_ = rows.Flush()
}
