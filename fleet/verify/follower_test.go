package verify

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
)

// table is the object of replicas that follow deltas.
type table struct {
	poolswap.Ref
	rows map[string]string
	hash lthash.Hash // of rows, if hashed
}

// row sets a row, or deletes it if value is "". It finds nothing wrong with a delta that
// does not fit: the oracle has to.
type row struct{ key, value string }

func newTables(t testing.TB, hashed bool) *oplog.Log[table, *table, row] {
	t.Helper()
	return must(oplog.New(oplog.Options[table, row]{
		New: func() *table { return &table{rows: map[string]string{}} },
		Apply: func(t *table, r row) error {
			if old, ok := t.rows[r.key]; ok && hashed {
				t.hash.Remove(lthash.AppendRow(nil, r.key, old))
			}
			if r.value != "" && hashed {
				t.hash.Add(lthash.AppendRow(nil, r.key, r.value))
			}
			set(t.rows, r)
			return nil
		},
		Copy:  func(dst, src *table) error { dst.rows, dst.hash = maps.Clone(src.rows), src.hash; return nil },
		Reset: func(t *table) { clear(t.rows); t.hash = lthash.Hash{} },
	}))(t)
}

func set(rows map[string]string, r row) {
	if delete(rows, r.key); r.value != "" {
		rows[r.key] = r.value
	}
}

// stateOf returns the digest of rows.
func stateOf(rows map[string]string) [sha256.Size]byte {
	var h lthash.Hash
	for key, value := range rows {
		h.Add(lthash.AppendRow(nil, key, value))
	}
	return h.Sum()
}

// textOf returns rows as whole content.
func textOf(rows map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "%s %s\n", key, rows[key])
	}
	return b.String()
}

// badKey is a row that decodeRows refuses.
const badKey = "bad"

// decodeRows yields a row for each line "key value", and a deletion for "key".
func decodeRows(_ context.Context, content *reload.Content) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		lines := bufio.NewScanner(content.Body)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), " ")
			var err error
			if key == badKey {
				err = fmt.Errorf("bad row %q", lines.Text())
			}
			if !yield(row{key, value}, err) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(row{}, err)
		}
	}
}

// follower is a replica that follows deltas, and its reader.
type follower struct {
	id, dir  string // dir of its Cache, or ""
	source   *fleet.Source
	reloader *reload.Reloader
	tables   *poolswap.Container[table, *table]
	stop     func() // ends the reader

	mu    sync.Mutex
	runs  map[uint64]string // the revision of each version
	reads map[uint64]uint64 // the rows of each version that the reader saw, as sumOf
	torn  string            // what the reader saw change
}

func newFollower(t testing.TB, c *fleet.Client, name, id, dir string, digest bool, keys []ed25519.PublicKey, count func(what string)) *follower {
	t.Helper()
	f := &follower{id: id, dir: dir, runs: map[uint64]string{}, reads: map[uint64]uint64{}}
	f.source = must(fleet.NewSource(c, name, fleet.SourceOptions{ID: id, Keys: keys, Logger: quiet}))(t)
	log := newTables(t, digest)
	f.tables = log.Container()
	f.runs[f.tables.Version()] = "" // nothing is loaded
	var source reload.Source = f.source
	if dir != "" {
		source = reload.Cache(source, dir)
	}
	options := reload.LogOptions[table]{Options: reload.Options{Logger: quiet, Observe: func(e reload.Event) {
		f.source.Observe(e)
		tell(e, count)
		f.mu.Lock()
		defer f.mu.Unlock()
		if e.Outcome == reload.Loaded {
			f.runs[e.Version] = e.Revision
		}
	}}}
	if digest {
		options.Digest = func(t *table) [sha256.Size]byte { return t.hash.Sum() }
	}
	f.reloader = reload.NewLog(log, source, decodeRows, options)
	ended, ending := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		f.read(ending)
	}()
	f.stop = func() { close(ending); <-ended }
	return f
}

// tell counts an attempt.
func tell(e reload.Event, count func(what string)) {
	count(string(e.Outcome))
	if e.Outcome == reload.Loaded && e.Base != "" {
		count("loaded delta")
	}
	if e.Outcome == reload.Loaded && e.Stale != nil {
		count("restored")
	}
	if e.DeltaErr != nil {
		count("did not fit")
	}
	for _, err := range []error{e.DeltaErr, e.Err} {
		if err != nil && strings.Contains(err.Error(), "other rows than those") {
			count("other rows")
		}
	}
}

var seedOfSums = maphash.MakeSeed()

// sumOf returns a number that two sets of rows have by bad luck alone.
func sumOf(rows map[string]string) (sum uint64) {
	for key, value := range rows {
		sum += maphash.Comparable(seedOfSums, row{key, value})
	}
	return sum
}

// read looks at each version, and whether it changes, until ending is closed.
func (f *follower) read(ending <-chan struct{}) {
	for wait := time.NewTicker(200 * time.Microsecond); ; {
		obj := f.tables.Acquire()
		version, sum := f.tables.VersionOf(obj), sumOf(obj.rows)
		select {
		case <-wait.C:
		case <-ending:
			wait.Stop()
		}
		again := sumOf(obj.rows)
		f.tables.Release(obj)
		f.mu.Lock()
		if before, ok := f.reads[version]; sum != again || ok && before != sum {
			f.torn = fmt.Sprintf("version %d changes under a reader of %s", version, f.id)
		}
		f.reads[version] = sum
		f.mu.Unlock()
		select {
		case <-ending:
			return
		default:
		}
	}
}

// check returns what is wrong with the replica, if rows returns those of a revision.
func (f *follower) check(rows func(revision string) map[string]string) error {
	s := f.reloader.Status()
	obj := f.tables.Acquire()
	defer f.tables.Release(obj)
	if version := f.tables.VersionOf(obj); s.Version != 0 && s.Version != version {
		return fmt.Errorf("%s: version %d is current, and the status has %d", f.id, version, s.Version)
	}
	if want := rows(s.Revision); want == nil || !maps.Equal(obj.rows, want) {
		return fmt.Errorf("%s: revision %q has %d rows, and the table other ones: %s", f.id, s.Revision, len(want), differences(obj.rows, want))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.torn != "" {
		return fmt.Errorf("%s", f.torn)
	}
	for version, sum := range f.reads {
		revision, known := f.runs[version]
		if !known || sumOf(rows(revision)) != sum {
			return fmt.Errorf("%s: a reader saw rows in version %d that revision %q has not", f.id, version, revision)
		}
	}
	clear(f.reads)
	return nil
}

// differences names rows of a that b has not, and the other way round.
func differences(a, b map[string]string) (text string) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if b[key] != a[key] {
			text += fmt.Sprintf(" %s=%q,%q", key, a[key], b[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			text += fmt.Sprintf(" %s=missing,%q", key, b[key])
		}
	}
	return fmt.Sprintf("%.300s", text)
}
