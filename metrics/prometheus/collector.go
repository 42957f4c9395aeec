package prometheus

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// metric is a figure of a Stats or Status.
type metric[S any] struct {
	name, help string
	kind       prometheus.ValueType
	value      func(*S) float64
}

// collector exports a Stats or Status.
type collector[S any] struct {
	read     func() S
	metrics  []metric[S]
	descs    []*prometheus.Desc // of metrics
	labelled *prometheus.Desc   // of the metric that has labels of its own
	label    func(s *S, send func(value float64, labels ...string))
}

func newCollector[S any](read func() S, prefix string, metrics []metric[S], labels prometheus.Labels) *collector[S] {
	c := &collector[S]{read: read, metrics: metrics}
	for _, m := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(prefix+m.name, m.help, nil, labels))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector[S]) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
	ch <- c.labelled
}

// Collect implements prometheus.Collector.
func (c *collector[S]) Collect(ch chan<- prometheus.Metric) {
	s := c.read()
	for i, m := range c.metrics {
		ch <- prometheus.MustNewConstMetric(c.descs[i], m.kind, m.value(&s))
	}
	c.label(&s, func(value float64, labels ...string) {
		for i, label := range labels { // an ETag may have any bytes, and a label must be UTF-8
			labels[i] = strings.ToValidUTF8(label, "\uFFFD")
		}
		ch <- prometheus.MustNewConstMetric(c.labelled, prometheus.GaugeValue, value, labels...)
	})
}
