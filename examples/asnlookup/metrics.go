package main

import (
	"expvar"
	"fmt"
	"time"

	"github.com/poolswap/poolswap"
)

// metrics are shown at /debug/vars.
type metrics struct {
	answers       expvar.Map // by HTTP status
	reloads       expvar.Int // successful ones
	reloadsFailed expvar.Int
	lastError     expvar.String // of the last reload; empty if it succeeded
	lastSuccess   expvar.String // when it began
	lastSeconds   expvar.Float  // that the last successful reload took
}

func (m *metrics) reloaded(start time.Time, took time.Duration, err error) {
	if err != nil {
		m.reloadsFailed.Add(1)
		m.lastError.Set(err.Error())
		return
	}
	m.reloads.Add(1)
	m.lastError.Set("")
	m.lastSuccess.Set(start.Format(time.RFC3339))
	m.lastSeconds.Set(took.Seconds())
}

// tableInfo describes a table. It is a copy, so it outlives the table.
type tableInfo struct {
	Version                          uint64
	Loaded                           time.Time
	Ranges, Systems, Overlaps, Bytes int
}

func infoOf(version uint64, t *table) tableInfo {
	return tableInfo{version, t.loaded, len(t.spans), len(t.systems), t.overlaps, t.bytes()}
}

func (i tableInfo) String() string {
	return fmt.Sprintf("version %d with %s of %s, %.1f MiB",
		i.Version, count(i.Ranges, "range"), count(i.Systems, "system"), float64(i.Bytes)/(1<<20))
}

// count says how many there are of a thing.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// vars returns the metrics, the current table's figures and the pool's as one
// variable.
func (m *metrics) vars(pool *poolswap.Pool[table, *table], tables *poolswap.Container[table, *table]) expvar.Var {
	vars := new(expvar.Map)
	vars.Set("Answers", &m.answers)
	vars.Set("Reloads", &m.reloads)
	vars.Set("ReloadsFailed", &m.reloadsFailed)
	vars.Set("LastReloadError", &m.lastError)
	vars.Set("LastReloadSuccess", &m.lastSuccess)
	vars.Set("LastReloadSeconds", &m.lastSeconds)
	vars.Set("Pool", expvar.Func(func() any { return pool.Stats() }))
	vars.Set("Table", expvar.Func(func() (info any) {
		tables.WithAcquire(func(t *table) {
			if t != nil {
				info = infoOf(tables.VersionOf(t), t)
			}
		})
		return info
	}))
	return vars
}
