package rollout

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/reload"
)

// Changes are what [Deltas] publishes.
type Changes struct {
	Rows    int // of the table, of 200 bytes each
	Each    int // changed rows of a publication
	Updates int // publications
	Every   time.Duration
}

// warm is the number of publications before the clock starts: the first makes each replica
// copy its table once.
const warm = 3

// row and view are those of a replica with a table.
type (
	row  = oplog.Change[string, string]
	view = oplog.View[string, string]
)

// Deltas measures publications of a few rows of a large table. Of the replicas, all of
// this process, some have the table, and the others, light, verify and count the rows.
// The delay is from the call of PublishDelta until a replica has swapped.
func Deltas(c Changes, tables, light int) (sample runner.Sample, err error) {
	server, err := startFleetd(false)
	if err != nil {
		return sample, err
	}
	defer server.close()
	all := table(c.Rows)
	first, err := server.publish(all)
	if err != nil {
		return sample, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	n := tables + light
	swapped := make(chan swap, 2*n)
	begin := time.Now()
	for i := range n {
		if err := server.followDeltas(ctx, &running, i, i < tables, swapped); err != nil {
			return sample, err
		}
	}
	whole, err := await(swapped, n, first.revision)
	if err != nil {
		return sample, err
	}
	client, err := server.client(server.token)
	if err != nil {
		return sample, err
	}
	defer client.CloseIdleConnections()
	publisher, err := fleet.NewPublisher(client, name, fleet.PublisherOptions{})
	if err != nil {
		return sample, err
	}
	var delays []float64
	var fetched int64
	var spent time.Duration
	var before int64
	base := first.revision
	for i := range warm + c.Updates {
		if i == warm {
			spent = server.processorTime()
			if before, err = sizeOf(server.dir); err != nil {
				return sample, err
			}
		}
		published := time.Now()
		r, _, err := publisher.PublishDelta(ctx, base, bytes.NewReader(change(c, i)), "")
		if err != nil {
			return sample, err
		}
		base = r.ID
		each, bytes, err := awaitEach(swapped, n, r.ID)
		if err != nil {
			return sample, err
		}
		if i >= warm {
			for _, at := range each {
				delays = append(delays, float64(at.Sub(published)))
			}
			fetched += bytes
		}
		time.Sleep(time.Until(published.Add(c.Every)))
	}
	after, err := sizeOf(server.dir)
	if err != nil {
		return sample, err
	}
	slices.Sort(delays)
	quantile := func(q float64) float64 { return delays[int(math.Ceil(q*float64(len(delays))))-1] }
	minutes := float64(c.Updates) * max(c.Every, time.Millisecond).Minutes()
	return server.sample(n, spent, map[string]float64{
		"whole-ns": float64(whole.Sub(begin)), "whole-bytes": float64(len(all)),
		"p50-ns": quantile(0.5), "p95-ns": quantile(0.95), "last-ns": delays[len(delays)-1],
		"fetched-bytes": float64(fetched) / float64(c.Updates*n), "store-bytes/min": float64(after-before) / minutes,
	}), nil
}

// awaitEach waits until n replicas have swapped to a revision by a delta, and returns when
// each had, and the bytes that all have fetched.
func awaitEach(swapped <-chan swap, n int, revision string) (each []time.Time, bytes int64, err error) {
	timeout := time.After(patience)
	for len(each) < n {
		select {
		case s := <-swapped:
			if s.revision != revision {
				continue
			}
			if s.base == "" {
				return nil, 0, errors.New("a replica has fetched the whole, not the delta")
			}
			each, bytes = append(each, s.at), bytes+s.bytes
		case <-timeout:
			return nil, 0, fmt.Errorf("%d replicas do not swap to revision %s within %v", n-len(each), revision, patience)
		}
	}
	return each, bytes, nil
}

// followDeltas runs a replica, with a table or light, until ctx ends.
func (d *daemon) followDeltas(ctx context.Context, running *sync.WaitGroup, i int, full bool, swapped chan<- swap) error {
	client, err := d.client(d.replicas)
	if err != nil {
		return err
	}
	source, err := fleet.NewSource(client, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", i), Logger: silent})
	if err != nil {
		return err
	}
	options := reload.Options{Logger: silent, Observe: func(e reload.Event) {
		source.Observe(e)
		if e.Outcome == reload.Loaded {
			swapped <- swap{e.Revision, time.Now(), e.Base, e.Size}
		}
	}}
	var reloader *reload.Reloader
	if full {
		rows, err := oplog.NewMap(oplog.MapOptions[string, string]{})
		if err != nil {
			return err
		}
		reloader = reload.NewLog(rows.Log(), source, decode, reload.LogOptions[view]{Options: options})
	} else {
		log, err := oplog.New(oplog.Options[counter, int]{
			New:   func() *counter { return new(counter) },
			Apply: func(c *counter, n int) error { c.rows += n; return nil },
			Copy:  func(to, from *counter) error { to.rows = from.rows; return nil },
			Reset: func(c *counter) { c.rows = 0 },
		})
		if err != nil {
			return err
		}
		reloader = reload.NewLog(log, source, count, reload.LogOptions[counter]{Options: options})
	}
	running.Go(func() {
		_ = reloader.Run(ctx)
		client.CloseIdleConnections()
	})
	return nil
}

// counter is the object of a light replica.
type counter struct {
	poolswap.Ref
	rows int
}

// decode yields a row for each line "key value".
func decode(_ context.Context, content *reload.Content) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := bufio.NewScanner(content.Body)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), " ")
			if !yield(row{Key: key, Value: value}, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(row{}, err)
		}
	}
}

// count yields the number of lines.
func count(_ context.Context, content *reload.Content) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		n, buffer := 0, make([]byte, 64<<10)
		for {
			m, err := content.Body.Read(buffer)
			n += bytes.Count(buffer[:m], []byte("\n"))
			if err != nil {
				yield(n, nil) // the Reloader knows of an error, too
				return
			}
		}
	}
}

// table returns the lines of so many rows.
func table(rows int) []byte {
	text := make([]byte, 0, 201*rows)
	for i := range rows {
		text = line(text, i, 0)
	}
	return text
}

// change returns the lines that a publication changes.
func change(c Changes, publication int) (text []byte) {
	for i := range c.Each {
		text = line(text, (publication*c.Each+i)*7919%c.Rows, publication+1)
	}
	return text
}

func line(text []byte, i, version int) []byte {
	return fmt.Appendf(text, "row-%012d %0183d\n", i, version)
}

// sizeOf returns the bytes of the files in a folder.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // the server has just removed it
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
