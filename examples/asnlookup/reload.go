package main

import (
	"context"
	"log"
	"os"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
)

// reloader is the writer: it fills a table from the source and swaps it in. If
// the new table is broken the old one stays.
type reloader struct {
	pool   *poolswap.Pool[table, *table]
	tables *poolswap.Container[table, *table]
	source source
	counts *counters
	log    *log.Logger

	mu     sync.Mutex // writers take turns; guards what is below
	parser *parser
	tried  version // that was read last, with success or without
	seen   version // that the last look at the source found
}

// reload reads the table again and swaps it in.
func (r *reloader) reload(why string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	start := time.Now()
	size, err := r.swap()
	took := time.Since(start)
	if err != nil {
		r.counts.reloadFailed(err)
		r.log.Printf("%s: the table is not replaced: %v", why, err)
		return err
	}
	r.counts.reloaded(size, took)
	r.log.Printf("%s: new table: %v, in %v", why, size, took.Round(time.Millisecond))
	if size.Overlaps > 0 {
		r.log.Printf("%d overlapping ranges are cut short, the first at %v", size.Overlaps, r.parser.flaw)
	}
	return nil
}

// swap does what reload does and returns how large the new table is.
func (r *reloader) swap() (tableSize, error) {
	next, err := r.pool.TryGet()
	if err != nil {
		return tableSize{}, err // the source has not been tried: the next look at it tries again
	}
	r.tried = r.source.version() // if it changes from here on, it is read once more
	r.parser.begin()
	err = r.source.fill(r.parser, next)
	if err == nil {
		err = r.parser.end(next)
	}
	if err != nil {
		r.tables.Release(next) // it was not published: the pool has it back, emptied
		return tableSize{}, err
	}
	size := sizeOf(next) // while it is ours
	r.tables.Update(next)
	return size, nil
}

// changed looks at the source and reports whether there is a version that was
// not tried yet and that has been the same for two looks: a file that is still
// being written is left alone.
func (r *reloader) changed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.source.version()
	settled := now.equal(r.seen)
	r.seen = now
	return settled && !now.equal(r.tried)
}

// watch reloads the table when the source is seen to have changed at a tick,
// and at each signal, until ctx is done.
func (r *reloader) watch(ctx context.Context, ticks <-chan time.Time, signals <-chan os.Signal) {
	for {
		why := "the table changed"
		select {
		case <-ctx.Done():
			return
		case signal := <-signals:
			why = signal.String()
		case <-ticks:
			if !r.changed() {
				continue
			}
		}
		_ = r.reload(why) // logged and counted; the old table stays
	}
}
