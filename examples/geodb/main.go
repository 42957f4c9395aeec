// Command geodb looks IP addresses up in a MaxMind database, which it maps into memory
// and keeps fresh from a file or a URL. See README.md.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log"
	"net/http"
	"net/netip"
	"os/signal"
	"syscall"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/poolswap/poolswap"
	poolmetrics "github.com/poolswap/poolswap/metrics/prometheus"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/mapped"
)

// run serves the database until ctx ends.
func run(ctx context.Context, database, cache string, every time.Duration, server *http.Server) error {
	source, err := reload.Open(database)
	if err != nil {
		return err
	}
	pool := mapped.NewPool[*maxminddb.Reader](func(err error) { log.Print(err) })
	dbs := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(dbs, reload.Cache(source, cache), mapped.Load(func(ctx context.Context, data []byte) (reader *maxminddb.Reader, err error) {
		if reader, err = maxminddb.OpenBytes(data); err != nil {
			return nil, err
		}
		err = errors.New("the database has no records") // one that cannot be decoded is refused, too
		for result := range reader.Networks() {
			if err = cmp.Or(ctx.Err(), result.Decode(new(any))); err != nil {
				break
			}
		}
		return reader, err
	}), reload.Options{Every: every, Stats: pool.Stats})
	prometheus.MustRegister(poolmetrics.Pool("geodb", pool.Stats), poolmetrics.Reload("geodb", reloader.Status))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.Handler())
	mux.Handle("GET /ready", reload.Ready(reloader))
	mux.Handle("GET /status", reload.StatusPage(reloader))
	mux.HandleFunc("GET /lookup", func(w http.ResponseWriter, r *http.Request) {
		db := dbs.Acquire()
		defer dbs.Release(db)
		if db == nil {
			http.Error(w, "no database is loaded: /status says why", http.StatusServiceUnavailable)
			return
		}
		ip, err := netip.ParseAddr(r.FormValue("ip"))
		var record any
		result := db.Value.Lookup(ip.Unmap())
		if err := cmp.Or(err, result.Decode(&record)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"network": result.Prefix(), "record": record, "version": dbs.VersionOf(db)})
	})
	server.Handler = mux
	return reload.Serve(ctx, server, reload.ServeOptions{Close: pool.Close}, reloader)
}

func main() {
	database := flag.String("db", "GeoLite2-City.mmdb", "`path or URL` of a MaxMind database")
	cache := flag.String("cache", "geodb.cache", "`directory` for the copy that is mapped")
	address := flag.String("addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	flag.Parse()
	ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	if err := run(ctx, *database, *cache, 5*time.Second, &http.Server{Addr: *address, ReadHeaderTimeout: 5 * time.Second}); err != nil {
		log.Fatal(err)
	}
}
