package rollout

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog/lthash"
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

// Deltas measures publications of a few rows of a large table, signed and with the digest of
// all rows. Of the replicas, all of this process, some have the table, compare that digest
// and have a reader each, and the others, light, verify and count the rows. The delay is
// from the call of PublishDelta until a replica has swapped.
func Deltas(c Changes, tables, light int) (sample runner.Sample, err error) {
	server, err := startFleetd(false)
	if err != nil {
		return sample, err
	}
	defer server.close()
	client, err := server.client(server.token)
	if err != nil {
		return sample, err
	}
	defer client.CloseIdleConnections()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return sample, err
	}
	publisher, err := fleet.NewPublisher(client, name, fleet.PublisherOptions{New: true, Key: private})
	if err != nil {
		return sample, err
	}
	all := newRowsOf(c)
	whole := all.text()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	revision, _, err := publisher.WithState(all.hash.Sum()).Publish(ctx, bytes.NewReader(whole), "")
	if err != nil {
		return sample, err
	}
	n := tables + light
	swapped := make(chan swap, 2*n)
	replicas := deltaReplicas{daemon: server, key: public, rows: c.Rows, swapped: swapped, running: &running}
	begin := time.Now()
	for i := range n {
		if err := replicas.start(ctx, i, i < tables); err != nil {
			return sample, err
		}
	}
	loaded, err := await(swapped, n, revision.ID)
	if err != nil {
		return sample, err
	}
	var delays []float64
	var fetched, stored int64
	var spent time.Duration
	var clock time.Time
	for i := range warm + c.Updates {
		if i == warm {
			spent = server.processorTime()
			if stored, err = sizeOf(server.dir); err != nil {
				return sample, err
			}
			clock = time.Now()
			replicas.looked.Store(0)
		}
		delta := all.change()
		published := time.Now()
		revision, _, err = publisher.WithState(all.hash.Sum()).PublishDelta(ctx, revision.ID, bytes.NewReader(delta), "")
		if err != nil {
			return sample, err
		}
		each, bytes, err := awaitEach(swapped, n, revision.ID)
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
	took, looked := time.Since(clock).Seconds(), replicas.looked.Load()
	after, err := sizeOf(server.dir)
	if err == nil {
		err = replicas.wrong()
	}
	if err != nil {
		return sample, err
	}
	slices.Sort(delays)
	quantile := func(q float64) float64 { return delays[int(math.Ceil(q*float64(len(delays))))-1] }
	return server.sample(n, spent, map[string]float64{
		"whole-ns": float64(loaded.Sub(begin)), "whole-bytes": float64(len(whole)), "compiled-bytes": float64(compiledDiff(all)),
		"p50-ns": quantile(0.5), "p95-ns": quantile(0.95), "last-ns": delays[len(delays)-1], "lookups/s": float64(looked) / took,
		"fetched-bytes": float64(fetched) / float64(c.Updates*n), "stored-bytes": float64(after-stored) / took * 60,
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

// rowsOf are those of the publisher.
type rowsOf struct {
	Changes
	versions    []int // of each row, the publication that changed it, from 1
	publication int
	hash        lthash.Hash
}

func newRowsOf(c Changes) *rowsOf {
	r := &rowsOf{Changes: c, versions: make([]int, c.Rows)}
	for i := range r.versions {
		r.hash.Add(line(nil, i, 0))
	}
	return r
}

// text returns all rows.
func (r *rowsOf) text() []byte {
	text := make([]byte, 0, 201*r.Rows)
	for i, version := range r.versions {
		text = line(text, i, version)
	}
	return text
}

// change changes some rows, and returns them.
func (r *rowsOf) change() (text []byte) {
	for i := range r.Each {
		row := (r.publication*r.Each + i) * 7919 % r.Rows
		r.hash.Remove(line(nil, row, r.versions[row]))
		r.versions[row] = r.publication + 1
		r.hash.Add(line(nil, row, r.versions[row]))
		text = line(text, row, r.versions[row])
	}
	r.publication++
	return text
}

func line(text []byte, i, version int) []byte {
	return fmt.Appendf(text, "%s %0183d\n", key(i), version)
}

func key(i int) string { return fmt.Sprintf("row-%012d", i) }

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
