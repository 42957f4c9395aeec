package main

import (
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"
)

// String says what c is in units that suit it.
func (c cost) String() string {
	amount := fmt.Sprintf("%.1f MiB", mib(c.bytes))
	if c.bytes < 1<<20 {
		amount = fmt.Sprintf("%.1f KiB", float64(c.bytes)/(1<<10))
	}
	return fmt.Sprintf("%s in %d allocations, %v", amount, c.objects, c.took.Round(time.Millisecond/10))
}

// report writes what was measured as a table.
func (m *measurement) report(out io.Writer) error {
	var total readings
	for _, r := range m.readers {
		total.reads += r.reads
		total.missing += r.missing
		total.timed += r.timed
		total.slowest = max(total.slowest, r.slowest)
	}
	swaps := uint64(max(m.swaps, 1))
	seconds := m.spent.took.Seconds()

	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what, format string, values ...any) {
		fmt.Fprintf(w, "%s\t%s\n", what, fmt.Sprintf(format, values...))
	}
	row("table", "%v", m.size)
	row("first load", "%v", m.first)
	row("recycled load", "%v", m.recycled)
	row("run", "%v, %d readers, 1 writer, GOMAXPROCS %d, %s %s/%s",
		m.spent.took.Round(time.Millisecond), len(m.readers), runtime.GOMAXPROCS(0), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	row("reads per second", "%.0f", float64(total.reads)/seconds)
	row("lookups that missed", "%d of %d", total.missing, total.reads)
	row("slowest read", "%v of %d timed (1 in %d), the scheduler's pauses included", total.slowest, total.timed, timedRead)
	row("swaps", "%d, %d postponed because readers held every table", m.swaps, m.postponed)
	row("per swap", "%v", cost{m.spent.bytes / swaps, m.spent.objects / swaps, m.spent.took / time.Duration(swaps)})

	s := m.pool.Stats()
	row("objects", "%d created, %d live: %d current, %d held, %d spare", s.Created, s.Live, s.Current, s.Retired, s.Spares)
	row("counting", "%s: %d late releases, %d retries, %d slow checks", s.Counting, s.LateReleases, s.Retries, s.SlowChecks)
	return w.Flush()
}
