// Package keyed holds the ways to change some keys of a map that goroutines
// read, each written as well as it can be.
package keyed

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/benbjohnson/immutable"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/oplog"
)

// Table is a map that is shared between readers and one writer.
type Table struct {
	// Update makes the changes of that range of Data.Changes, which follows the
	// range of the Update before, and shows them to readers.
	Update func(from, to int) error

	// Get returns the value of a key, as a reader sees it.
	Get func(key string) int64

	// Keep is the number of operations beyond which a log does not grow.
	Keep int
}

// Names are the names that New knows, in the order in which suites show them.
// Those that allocate come last, so that one collection in each round is enough.
var Names = []string{"Oplog", "Refill", "RWMutexMap", "PlainTwice", "Persistent", "CloneAtomicPtr"}

// New returns a table of that name that holds data, and no change of it yet.
func New(name string, data *Data) (*Table, error) {
	return map[string]func(*Data) (*Table, error){
		"Oplog": newOplog, "Refill": newRefill, "RWMutexMap": newRWMutexMap, "PlainTwice": newPlainTwice,
		"Persistent": newPersistent, "CloneAtomicPtr": newCloneAtomicPtr,
	}[name](data)
}

// newOplog publishes changes through an oplog.Map.
func newOplog(d *Data) (*Table, error) {
	// As package oplog advises: about as many as take as long to apply as a copy of
	// the map takes, and twice the largest publication at least.
	keep := max(len(d.Keys)/5, 2000)
	m, err := oplog.NewMap(oplog.MapOptions[string, int64]{Keep: keep})
	if err != nil {
		return nil, err
	}
	_, err = m.Replace(context.Background(), func(set func(string, int64)) error {
		for i, key := range d.Keys {
			set(key, d.Values[i])
		}
		return nil
	})
	return &Table{
		Update: func(from, to int) error {
			_, err := m.Publish(context.Background(), d.Changes[from:to]...)
			return err
		},
		Get:  func(key string) int64 { value, _ := m.Get(key); return value },
		Keep: keep,
	}, err
}

// newRefill fills a recycled map from the source that has the truth, here two
// slices.
func newRefill(d *Data) (*Table, error) {
	type object = rivals.Object[plain]
	s := rivals.NewPoolSwap(&rivals.Functions[plain]{
		New:   func() plain { return make(plain, len(d.Keys)) },
		Reset: func(m *plain) { clear(*m) },
	}, poolswap.Options[object]{})
	values := slices.Clone(d.Values)
	fill := func(next, _ *object) error { // made once: a closure allocates
		for i, key := range d.Keys {
			next.Value[key] = values[i]
		}
		return nil
	}
	t := &Table{
		Update: func(from, to int) error {
			for i, c := range d.Changes[from:to] {
				values[d.places[from+i]] = c.Value
			}
			_, err := s.Publish(context.Background(), fill)
			return err
		},
		Get: func(key string) (value int64) {
			s.WithAcquire(func(obj *object) { value = obj.Value[key] })
			return value
		},
	}
	return t, t.Update(0, 0)
}

// newRWMutexMap is changed in place under a lock that readers wait for.
func newRWMutexMap(d *Data) (*Table, error) {
	var mu sync.RWMutex
	m := d.plain()
	return &Table{
		Update: func(from, to int) error {
			mu.Lock()
			defer mu.Unlock()
			apply(m, d.Changes[from:to])
			return nil
		},
		Get: func(key string) int64 {
			mu.RLock()
			defer mu.RUnlock()
			return m[key]
		},
	}, nil
}

// newPlainTwice makes each change to two plain maps, without sharing them.
func newPlainTwice(d *Data) (*Table, error) {
	one, other := d.plain(), d.plain()
	return &Table{
		Update: func(from, to int) error {
			apply(one, d.Changes[from:to])
			apply(other, d.Changes[from:to])
			return nil
		},
		Get: func(key string) int64 { return one[key] },
	}, nil
}

// hasher hashes as the maps of Go do, which is faster than the hash of the trie.
type hasher struct{ seed maphash.Seed }

func (h hasher) Hash(key string) uint32 { return uint32(maphash.String(h.seed, key)) }

func (hasher) Equal(a, b string) bool { return a == b }

// newPersistent is a hash array mapped trie behind a pointer: a change copies the
// nodes on the way to its key and shares all others with the version before.
func newPersistent(d *Data) (*Table, error) {
	b := immutable.NewMapBuilder[string, int64](hasher{maphash.MakeSeed()})
	for i, key := range d.Keys {
		b.Set(key, d.Values[i])
	}
	var current atomic.Pointer[immutable.Map[string, int64]]
	current.Store(b.Map())
	return &Table{
		Update: func(from, to int) error {
			next := current.Load()
			for _, c := range d.Changes[from:to] {
				next = next.Set(c.Key, c.Value)
			}
			current.Store(next)
			return nil
		},
		Get: func(key string) int64 { value, _ := current.Load().Get(key); return value },
	}, nil
}

// newCloneAtomicPtr clones the map for each update and swaps a pointer.
func newCloneAtomicPtr(d *Data) (*Table, error) {
	var current atomic.Pointer[plain]
	m := d.plain()
	current.Store(&m)
	return &Table{
		Update: func(from, to int) error {
			next := maps.Clone(*current.Load())
			apply(next, d.Changes[from:to])
			current.Store(&next)
			return nil
		},
		Get: func(key string) int64 { return (*current.Load())[key] },
	}, nil
}
