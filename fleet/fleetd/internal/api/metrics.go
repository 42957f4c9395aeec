package api

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// metrics are the metrics of a server.
type metrics struct {
	requests       *prometheus.CounterVec
	sent, received prometheus.Counter
	polls          prometheus.Gauge
	handler        http.Handler
	few            http.Handler // that serves few requests at once
}

func newMetrics(s *store.Store) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "fleetd_requests_total", Help: "Requests that were answered, by route and status."}, []string{"route", "status"}),
		sent:     prometheus.NewCounter(prometheus.CounterOpts{Name: "fleetd_content_sent_bytes_total", Help: "Bytes of content that were sent."}),
		received: prometheus.NewCounter(prometheus.CounterOpts{Name: "fleetd_content_received_bytes_total", Help: "Bytes of content that were uploaded."}),
		polls:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "fleetd_open_polls", Help: "Requests that wait for a plan."}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.sent, m.received, m.polls, &stored{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	m.few = promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxReads})
	return m
}

// Metrics returns a handler that serves the metrics without a token.
func (s *Server) Metrics() http.Handler { return s.metrics.handler }

func (s *Server) getMetrics(q *request) error {
	s.metrics.few.ServeHTTP(q.w, q.Request)
	return nil
}

// stored collects the state of a store.
type stored struct{ store *store.Store }

var (
	namesDesc    = prometheus.NewDesc("fleetd_names", "Names.", nil, nil)
	readyDesc    = prometheus.NewDesc("fleetd_ready", "1 if this node can serve changes.", nil, nil)
	leaderDesc   = prometheus.NewDesc("fleetd_leader", "1 if this node drives rollouts.", nil, nil)
	freeDesc     = prometheus.NewDesc("fleetd_disk_free_bytes", "Free bytes of the disk with the store.", nil, nil)
	spareDesc    = prometheus.NewDesc("fleetd_disk_spare_bytes", "Bytes that content may still take, which is less by the reserve.", nil, nil)
	seqDesc      = prometheus.NewDesc("fleetd_plan_seq", "Seq of the plan.", []string{"name"}, nil)
	epochDesc    = prometheus.NewDesc("fleetd_plan_epoch", "Epoch of the plan.", []string{"name"}, nil)
	loadedDesc   = prometheus.NewDesc("fleetd_replica_deltas", "Swaps by deltas, of the replicas that report, since each began.", []string{"name"}, nil)
	savedDesc    = prometheus.NewDesc("fleetd_replica_delta_saved_bytes", "Bytes that whole content would have had more than these deltas.", []string{"name"}, nil)
	fellBackDesc = prometheus.NewDesc("fleetd_replicas_fell_back", "Replicas that fetched whole content since a delta did not fit.", []string{"name"}, nil)
	replicasDesc = prometheus.NewDesc("fleetd_replicas", "Replicas by their state.", []string{"name", "state"}, nil)
)

// Describe implements prometheus.Collector.
func (c *stored) Describe(all chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{namesDesc, readyDesc, leaderDesc, freeDesc, spareDesc, seqDesc, epochDesc, replicasDesc, loadedDesc, savedDesc, fellBackDesc} {
		all <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *stored) Collect(all chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		all <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	one := map[bool]float64{true: 1}
	names := c.store.Names()
	gauge(namesDesc, float64(len(names)))
	gauge(readyDesc, one[c.store.Ready() == nil])
	gauge(leaderDesc, one[c.store.Leader()])
	if free, spare, known := c.store.Disk(); known {
		gauge(freeDesc, float64(free))
		gauge(spareDesc, float64(spare))
	}
	at := now()
	for _, name := range names {
		plan, err := c.store.Plan(name)
		if err != nil {
			plan = new(fleet.Plan)
		}
		gauge(seqDesc, float64(plan.Seq), name)
		gauge(epochDesc, float64(plan.Epoch), name)
		counts := map[fleet.State]int{fleet.Running: 0, fleet.Waiting: 0, fleet.Failing: 0, fleet.Empty: 0, fleet.Silent: 0}
		replicas := c.store.Reports(name)
		for i := range replicas {
			counts[replicas[i].State(plan, at)]++
		}
		deltas := fleet.TotalDeltas(replicas)
		gauge(loadedDesc, float64(deltas.Loaded), name)
		gauge(savedDesc, float64(deltas.Saved), name)
		gauge(fellBackDesc, float64(deltas.FellBack), name)
		for state, count := range counts {
			gauge(replicasDesc, float64(count), name, string(state))
		}
	}
}
