package main

import (
	"expvar"

	"github.com/poolswap/poolswap/reload"
)

// metrics are shown at /debug/vars. How reloads go in detail is at /status.
type metrics struct {
	answers expvar.Map // by HTTP status
	reloads expvar.Map // by outcome
}

func (m *metrics) observe(e reload.Event) { m.reloads.Add(string(e.Outcome), 1) }

// tableInfo describes a table. It is a copy, so it outlives the table.
type tableInfo struct {
	Version                          uint64
	Ranges, Systems, Overlaps, Bytes int
}

func infoOf(version uint64, t *table) tableInfo {
	return tableInfo{version, len(t.spans), len(t.systems), t.overlaps, t.bytes()}
}

// vars returns the metrics, the current table's figures and the pool's as one
// variable.
func (s *service) vars() expvar.Var {
	vars := new(expvar.Map)
	vars.Set("Answers", &s.metrics.answers)
	vars.Set("Reloads", &s.metrics.reloads)
	vars.Set("Pool", expvar.Func(func() any { return s.pool.Stats() }))
	vars.Set("Table", expvar.Func(func() (info any) {
		s.tables.WithAcquire(func(t *table) {
			if t != nil {
				info = infoOf(s.tables.VersionOf(t), t)
			}
		})
		return info
	}))
	return vars
}
