package main

import (
	"expvar"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
)

// counters are what the server tells about itself at /debug/vars, beside the
// accounts of the pool.
type counters struct {
	lookups expvar.Int // answered with a range
	missing expvar.Int // not in the table
	refused expvar.Int // a bad request, or no table

	reloads   expvar.Int    // that swapped the table
	failed    expvar.Int    // that left the old one
	lastError expvar.String // of the last reload that failed
	lastTook  expvar.Float  // seconds that the last reload that swapped took

	size atomic.Pointer[tableSize] // of the current table
}

// tableSize says how large a table is. It is a copy: the table itself may be
// replaced at any time.
type tableSize struct{ IPv4, IPv6, Systems, Overlaps, Bytes int }

func sizeOf(t *table) tableSize {
	return tableSize{len(t.v4), len(t.v6), len(t.owners), t.overlaps, t.size()}
}

func (s tableSize) String() string {
	return fmt.Sprintf("%d IPv4 and %d IPv6 ranges of %d systems, %.1f MiB", s.IPv4, s.IPv6, s.Systems, mib(s.Bytes))
}

func mib[N int | uint64](bytes N) float64 { return float64(bytes) / (1 << 20) }

func (c *counters) reloaded(size tableSize, took time.Duration) {
	c.reloads.Add(1)
	c.lastTook.Set(took.Seconds())
	c.size.Store(&size)
}

func (c *counters) reloadFailed(err error) {
	c.failed.Add(1)
	c.lastError.Set(err.Error())
}

// vars returns the counters and the accounts of the pool as one variable.
func (c *counters) vars(pool *poolswap.Pool[table, *table]) *expvar.Map {
	vars := new(expvar.Map)
	vars.Set("Lookups", &c.lookups)
	vars.Set("Missing", &c.missing)
	vars.Set("Refused", &c.refused)
	vars.Set("Reloads", &c.reloads)
	vars.Set("ReloadsFailed", &c.failed)
	vars.Set("LastReloadError", &c.lastError)
	vars.Set("LastReloadSeconds", &c.lastTook)
	vars.Set("Table", expvar.Func(func() any { return c.size.Load() }))
	vars.Set("Pool", expvar.Func(func() any { return pool.Stats() }))
	return vars
}
