package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/poolswap/poolswap"
)

// Pool returns a collector of a pool's Stats: pass the pool's method. name is the
// value of the label pool, and must be another one for each pool of a registry.
func Pool(name string, stats func() poolswap.Stats) prometheus.Collector {
	if stats == nil {
		panic("prometheus: Pool with nil stats")
	}
	labels := prometheus.Labels{"pool": name}
	c := newCollector(stats, "poolswap_", poolMetrics, labels)
	c.labelled = prometheus.NewDesc("poolswap_objects", "Objects that exist, by where they are.", []string{"place"}, labels)
	c.label = func(s *poolswap.Stats, send func(float64, ...string)) {
		for _, p := range places {
			send(float64(p.count(s)), p.name)
		}
	}
	return c
}

var poolMetrics = []metric[poolswap.Stats]{
	{"objects_created_total", "Objects that the factory made.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Created) }},
	{"objects_adopted_total", "Objects that came by Update or NewContainer and not from the pool.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Adopted) }},
	{"objects_discarded_total", "Objects that reset refused, that were beyond the spares, or trimmed.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Discarded) }},
	{"objects_lost_total", "Objects given up because a hook panicked, they were released too often, or a fence failed.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Lost) }},
	{"objects_collected_total", "Objects that the garbage collector took.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Collected) }},
	{"objects_leaked_total", "Collected objects that were still counted as held: forgotten releases.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Leaked) }},
	{"publications_total", "Objects published.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Updates) }},
	{"publish_failures_total", "Calls of Publish that published nothing.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.FailedPublishes) }},
	{"acquire_retries_total", "Times that an Acquire began again because an update came between.", prometheus.CounterValue, func(s *poolswap.Stats) float64 { return float64(s.Reads.Retries) }},
	{"spare_limit", "Spares kept at most: the limit that was set, or the default at this moment.", prometheus.GaugeValue, func(s *poolswap.Stats) float64 { return float64(s.SpareLimit) }},
	{"references_held", "References that readers hold, to current and to old versions.", prometheus.GaugeValue, func(s *poolswap.Stats) float64 { return float64(s.Held) }},
	{"oldest_retired_seconds", "Time since the oldest version that readers still hold was replaced, 0 if they hold none.", prometheus.GaugeValue, func(s *poolswap.Stats) float64 { return s.OldestRetired.Seconds() }},
}

// places are where a live object can be.
var places = []struct {
	name  string
	count func(*poolswap.Stats) int
}{
	{"current", func(s *poolswap.Stats) int { return s.Current }},
	{"retired", func(s *poolswap.Stats) int { return s.Retired }},
	{"pending_reset", func(s *poolswap.Stats) int { return s.PendingReset }},
	{"resetting", func(s *poolswap.Stats) int { return s.Resetting }},
	{"spare", func(s *poolswap.Stats) int { return s.Spares }},
	{"elsewhere", func(s *poolswap.Stats) int {
		return max(0, s.Live-s.Current-s.Retired-s.PendingReset-s.Resetting-s.Spares)
	}},
}
