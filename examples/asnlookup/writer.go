package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/poolswap/poolswap"
)

// limitTime is how long a reload waits for a table if readers hold all that may
// exist.
const limitTime = 5 * time.Second

// writer reads tables from files and publishes them. If a new table is broken
// the old one stays. One goroutine uses it at a time.
type writer struct {
	tables    *poolswap.Container[table, *table]
	paths     []string
	maxShrink int // percent of the ranges that the next table may lack
	metrics   *metrics
	log       *log.Logger

	parser *parser
	tried  fileState // at the last reload, successful or not
	polled fileState // at the last poll
}

// reload reads the table again and publishes it.
func (w *writer) reload(ctx context.Context, reason string) error {
	start := time.Now()
	info, err := w.publish(ctx)
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

// publish makes a table of the files current. ctx ends the reading of them; a
// wait for a table ends sooner, so that the log soon says who holds the others.
func (w *writer) publish(ctx context.Context) (info tableInfo, err error) {
	wait, cancel := context.WithTimeout(ctx, limitTime)
	defer cancel()
	info.Version, err = w.tables.Publish(wait, func(next, current *table) error {
		err := w.fill(ctx, next, current)
		info = infoOf(0, next)
		return err
	})
	return info, err
}

// fill reads and checks a table. After an error Publish gives it back.
func (w *writer) fill(ctx context.Context, next, current *table) error {
	w.tried = stateOf(w.paths) // before reading: a change from here on is another state
	next.loaded = time.Now()
	if err := w.parser.read(ctx, next, w.paths); err != nil || current == nil {
		return err
	}
	was := len(current.spans)
	if len(next.spans) < was-was*w.maxShrink/100 {
		return fmt.Errorf("%s after %d, more than %d %% fewer: was the file cut short? (-max-shrink 100 accepts it)",
			count(len(next.spans), "range"), was, w.maxShrink)
	}
	return nil
}

// poll reloads the table if the files are in a state that was not tried yet and
// that is the same as at the last poll: a file that is still being written is
// left alone.
func (w *writer) poll(ctx context.Context) {
	now := stateOf(w.paths)
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
