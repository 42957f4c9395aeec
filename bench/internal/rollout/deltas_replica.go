package rollout

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/slab"
)

// deltaReplicas starts the replicas of [Deltas].
type deltaReplicas struct {
	*daemon
	key     ed25519.PublicKey
	rows    int
	swapped chan<- swap
	running *sync.WaitGroup

	looked  atomic.Int64 // lookups of all readers
	missing atomic.Int64 // those that did not find their row
}

// table is the object of a replica.
type table struct {
	poolswap.Ref
	rows slab.Strings
	hash lthash.Hash // of the lines of rows
	line []byte      // a buffer
}

// row is an operation on a table: it sets a row.
type row struct{ key, value string }

func (t *table) set(r row) error {
	if old, ok := t.rows.Get(r.key); ok {
		t.hash.Remove(t.lineOf(r.key, old))
	}
	t.hash.Add(t.lineOf(r.key, r.value))
	t.rows.Set(r.key, r.value)
	return nil
}

func (t *table) lineOf(key, value string) []byte {
	t.line = append(append(append(append(t.line[:0], key...), ' '), value...), '\n')
	return t.line
}

// counter is the object of a light replica.
type counter struct {
	poolswap.Ref
	rows int
}

// start runs a replica, with a table or light, until ctx ends.
func (d *deltaReplicas) start(ctx context.Context, i int, full bool) error {
	client, err := d.client(d.replicas)
	if err != nil {
		return err
	}
	source, err := fleet.NewSource(client, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", i), Keys: []ed25519.PublicKey{d.key}, Logger: silent})
	if err != nil {
		return err
	}
	options := reload.Options{Logger: silent, Observe: func(e reload.Event) {
		source.Observe(e)
		if e.Outcome == reload.Loaded {
			d.swapped <- swap{e.Revision, time.Now(), e.Base, e.Size}
		}
	}}
	var reloader *reload.Reloader
	if full {
		log, err := oplog.New(oplog.Options[table, row]{
			New:   func() *table { return new(table) },
			Apply: (*table).set,
			Copy:  func(to, from *table) error { to.rows.CopyFrom(&from.rows); to.hash = from.hash; return nil },
			Reset: func(t *table) { t.rows.Reset(); t.hash = lthash.Hash{} },
		})
		if err != nil {
			return err
		}
		reloader = reload.NewLog(log, source, decode, reload.LogOptions[table]{
			Options: options,
			Digest:  func(t *table) [sha256.Size]byte { return t.hash.Sum() },
		})
		d.running.Go(func() { d.look(ctx, log.Container()) })
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
	d.running.Go(func() {
		_ = reloader.Run(ctx)
		client.CloseIdleConnections()
	})
	return nil
}

// look is the reader of a table: 100 lookups in one version, each millisecond.
func (d *deltaReplicas) look(ctx context.Context, tables *poolswap.Container[table, *table]) {
	for wait := time.NewTicker(time.Millisecond); ; {
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return
		}
		t := tables.Acquire()
		if t.rows.Len() > 0 { // the whole content is loaded
			for range 100 {
				if _, ok := t.rows.Get(key(rand.IntN(d.rows))); !ok {
					d.missing.Add(1)
				}
			}
			d.looked.Add(100)
		}
		tables.Release(t)
	}
}

// wrong returns an error if a reader did not find a row.
func (d *deltaReplicas) wrong() error {
	if n := d.missing.Load(); n > 0 {
		return fmt.Errorf("%d lookups did not find their row", n)
	}
	return nil
}

// decode yields a row for each line "key value".
func decode(_ context.Context, content *reload.Content) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := bufio.NewScanner(content.Body)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), " ")
			if !yield(row{key, value}, nil) {
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
