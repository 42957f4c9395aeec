package prometheus_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/poolswap/poolswap"
	poolmetrics "github.com/poolswap/poolswap/metrics/prometheus"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Table is the object that the example keeps fresh.
type Table struct {
	poolswap.Ref
	text []byte
}

func metrics(pool *poolswap.Pool[Table, *Table], reloader *reload.Reloader) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		poolmetrics.Pool("tables", pool.Stats),
		poolmetrics.Reload("tables", reloader.Status),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

func Example() {
	pool := poolswap.NewPool(func() *Table { return new(Table) }, nil)
	source := new(reloadtest.Fake)
	reloader := reload.New(poolswap.NewEmptyContainer(pool), source, func(_ context.Context, next, _ *Table, content *reload.Content) (err error) {
		next.text, err = io.ReadAll(content.Body)
		return err
	}, reload.Options{})
	source.Push([]byte("a.example"))
	fmt.Println(reloader.Reload(context.Background()))

	answer := httptest.NewRecorder()
	metrics(pool, reloader).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		for _, name := range []string{"poolswap_publications_total{", "poolswap_reload_size_bytes{", "poolswap_reload_swaps_total{"} {
			if strings.HasPrefix(lines.Text(), name) {
				fmt.Println(lines.Text())
			}
		}
	}
	// Output:
	// <nil>
	// poolswap_publications_total{pool="tables"} 1
	// poolswap_reload_size_bytes{reloader="tables"} 9
	// poolswap_reload_swaps_total{reloader="tables"} 1
}
