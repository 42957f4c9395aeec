// Package prometheus exports the figures of pools and Reloaders as metrics for
// Prometheus.
//
//	registry.MustRegister(
//		poolmetrics.Pool("tables", pool.Stats),
//		poolmetrics.Reload("tables", reloader.Status),
//	)
//
// Each scrape calls Stats or Status once; nothing is counted for it in between,
// least of all on a read. dashboard.json is a dashboard for Grafana.
package prometheus
