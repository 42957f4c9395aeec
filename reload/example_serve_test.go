package reload_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// run serves a table until ctx ends, on a signal for example.
func run(ctx context.Context, address string, source reload.Source) error {
	pool := poolswap.NewPool(newTable, resetTable)
	tables := poolswap.NewEmptyContainer(pool)
	reloader := reload.New(tables, source, loadTable, reload.Options{Stats: pool.Stats})
	mux := http.NewServeMux()
	mux.Handle("/status", reload.StatusPage(reloader))
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	return reload.Serve(ctx, server, reload.ServeOptions{Close: pool.Close}, reloader)
}

// All errors of the start and of the end come back.
func ExampleServe() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	fmt.Println(run(ctx, "127.0.0.1:0", source))
	fmt.Println(run(context.Background(), "127.0.0.1", source))
	// Output:
	// <nil>
	// listen tcp: address 127.0.0.1: missing port in address
}
