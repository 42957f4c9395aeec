package prometheus

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/poolswap/poolswap/reload"
)

// Reload returns a collector of a Reloader's Status: pass its method. name is the
// value of the label reloader, and must be another one for each Reloader of a
// registry.
func Reload(name string, status func() reload.Status) prometheus.Collector {
	if status == nil {
		panic("prometheus: Reload with nil status")
	}
	labels := prometheus.Labels{"reloader": name}
	c := newCollector(status, "poolswap_reload_", reloadMetrics, labels)
	c.labelled = prometheus.NewDesc("poolswap_reload_info", "Source, revision, version and SHA-256 of the loaded content, and the source that served it if there are several; the value is 1.", []string{"source", "served_by", "revision", "version", "sha256"}, labels)
	c.label = func(s *reload.Status, send func(float64, ...string)) {
		send(1, s.Source, s.ServedBy, s.Revision, strconv.FormatUint(s.Version, 10), s.SHA256)
	}
	return c
}

var reloadMetrics = []metric[reload.Status]{
	{"attempts_total", "Attempts to load the content of the source.", prometheus.CounterValue, func(s *reload.Status) float64 { return float64(s.Attempts) }},
	{"swaps_total", "Attempts that published new content.", prometheus.CounterValue, func(s *reload.Status) float64 { return float64(s.Swaps) }},
	{"failures_total", "Attempts that failed.", prometheus.CounterValue, func(s *reload.Status) float64 { return float64(s.TotalFailures) }},
	{"consecutive_failures", "Failed attempts since the last one that succeeded.", prometheus.GaugeValue, func(s *reload.Status) float64 { return float64(s.Failures) }},
	{"refused", "1 if the newest content was refused, 0 otherwise.", prometheus.GaugeValue, func(s *reload.Status) float64 { return one(s.Refused != "") }},
	{"stale", "1 if the loaded content came from a cache or a later source and the origin has not answered since, 0 otherwise.", prometheus.GaugeValue, func(s *reload.Status) float64 { return one(s.Stale != nil) }},
	{"loaded_timestamp_seconds", "When the loaded content was published, 0 if nothing is loaded.", prometheus.GaugeValue, func(s *reload.Status) float64 { return unix(s.Loaded) }},
	{"modified_timestamp_seconds", "When the loaded content was made, 0 if that is unknown.", prometheus.GaugeValue, func(s *reload.Status) float64 { return unix(s.Modified) }},
	{"checked_timestamp_seconds", "When the loaded content was last known to be the newest, 0 if never.", prometheus.GaugeValue, func(s *reload.Status) float64 { return unix(s.Checked) }},
	{"size_bytes", "Size of the loaded content.", prometheus.GaugeValue, func(s *reload.Status) float64 { return float64(s.Size) }},
	{"fetch_duration_seconds", "How long the source took to answer with the loaded content.", prometheus.GaugeValue, func(s *reload.Status) float64 { return s.Fetch.Seconds() }},
	{"load_duration_seconds", "How long loading took, reading and verifying included.", prometheus.GaugeValue, func(s *reload.Status) float64 { return s.Load.Seconds() }},
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// unix returns the seconds since 1970 at a time, or 0 for the zero time.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}
