package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/poolswap/poolswap"
)

// writer reads tables from files and publishes them. If a new table is broken
// the old one stays. One goroutine uses it at a time.
type writer struct {
	pool      *poolswap.Pool[table, *table]
	tables    *poolswap.Container[table, *table]
	paths     []string
	maxShrink int // percent of the ranges that the next table may lack
	metrics   *metrics
	log       *log.Logger

	parser *parser
	ranges int     // of the table published last
	number uint64  // of the table published last
	tried  version // of the files at the last reload, successful or not
	polled version // of the files at the last poll
}

// reload reads the table again and publishes it.
func (w *writer) reload(ctx context.Context, reason string) error {
	start := time.Now()
	info, err := w.swap(ctx)
	took := time.Since(start)
	w.metrics.reloaded(start, took, err)
	if err != nil {
		w.log.Printf("%s: the table is not replaced: %v", reason, err)
		return err
	}
	w.log.Printf("%s: new table: %v, in %v", reason, info, took.Round(time.Millisecond))
	if info.Overlaps > 0 {
		w.log.Printf("%s cut short; the first: %v", count(info.Overlaps, "overlapping range"), w.parser.overlap)
	}
	return nil
}

// swap fills a table and publishes it, or gives it back to the pool.
func (w *writer) swap(ctx context.Context) (tableInfo, error) {
	next, err := w.pool.TryGet()
	if err != nil {
		return tableInfo{}, err // the files were not tried, so the next poll tries again
	}
	if err := w.fill(ctx, next); err != nil {
		w.pool.Release(next)
		return tableInfo{}, err
	}
	info := infoOf(next)
	w.ranges, w.number = info.Ranges, info.Version

	// From here on Update owns the table, even if it panics. Do not defer a
	// Release above: it would take the table away from readers then.
	w.tables.Update(next)
	return info, nil
}

// fill reads and checks a table that is the writer's own.
func (w *writer) fill(ctx context.Context, t *table) error {
	w.tried = versionOf(w.paths) // before reading: a change from here on is another version
	t.version, t.loaded = w.number+1, time.Now()
	if err := w.parser.read(ctx, t, w.paths); err != nil {
		return err
	}
	if len(t.spans) < w.ranges-w.ranges*w.maxShrink/100 {
		return fmt.Errorf("%s after %d, more than %d %% fewer: was the file cut short? (-max-shrink 100 accepts it)",
			count(len(t.spans), "range"), w.ranges, w.maxShrink)
	}
	return nil
}

// poll reloads the table if the files have a version that was not tried yet
// and that is the same as at the last poll: a file that is still being written
// is left alone.
func (w *writer) poll(ctx context.Context) {
	now := versionOf(w.paths)
	settled := now.equal(w.polled)
	w.polled = now
	if settled && !now.equal(w.tried) {
		_ = w.reload(ctx, "the files changed") // logged and counted there
	}
}

// watch polls at each tick and reloads at each signal, until ctx ends.
func (w *writer) watch(ctx context.Context, ticks <-chan time.Time, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case signal := <-signals:
			_ = w.reload(ctx, signal.String()) // likewise
		case <-ticks:
			w.poll(ctx)
		}
	}
}
