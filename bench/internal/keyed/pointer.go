package keyed

import (
	"hash/maphash"
	"maps"
	"sync/atomic"

	"github.com/benbjohnson/immutable"
)

// cloneAtomicPtr clones the map for each update and swaps a pointer.
type cloneAtomicPtr struct {
	ready

	data    *Data
	current atomic.Pointer[plain]
}

func newCloneAtomicPtr(d *Data) *cloneAtomicPtr {
	t := &cloneAtomicPtr{data: d}
	m := d.plain()
	t.current.Store(&m)
	return t
}

func (t *cloneAtomicPtr) Update(from, to int) error {
	next := maps.Clone(*t.current.Load())
	apply(next, t.data.Changes[from:to])
	t.current.Store(&next)
	return nil
}

func (t *cloneAtomicPtr) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumAtomicPtr(&t.current, keys) }, nothing
}

func sumAtomicPtr(p *atomic.Pointer[plain], keys []string) (sum int64) {
	for _, key := range keys {
		sum += (*p.Load())[key]
	}
	return sum
}

type trie = immutable.Map[string, int64]

// persistent is a hash array mapped trie: a change copies the nodes on the way
// to its key and shares all others with the version before.
type persistent struct {
	ready

	data    *Data
	current atomic.Pointer[trie]
}

func newPersistent(d *Data) *persistent {
	b := immutable.NewMapBuilder[string, int64](hasher{maphash.MakeSeed()})
	for i, key := range d.Keys {
		b.Set(key, d.Values[i])
	}
	t := &persistent{data: d}
	t.current.Store(b.Map())
	return t
}

// hasher hashes as the maps of Go do, which is faster than what the trie has.
type hasher struct{ seed maphash.Seed }

func (h hasher) Hash(key string) uint32 { return uint32(maphash.String(h.seed, key)) }

func (hasher) Equal(a, b string) bool { return a == b }

func (t *persistent) Update(from, to int) error {
	next := t.current.Load()
	for _, c := range t.data.Changes[from:to] {
		next = next.Set(c.Key, c.Value)
	}
	t.current.Store(next)
	return nil
}

func (t *persistent) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumPersistent(&t.current, keys) }, nothing
}

func sumPersistent(p *atomic.Pointer[trie], keys []string) (sum int64) {
	for _, key := range keys {
		value, _ := p.Load().Get(key)
		sum += value
	}
	return sum
}
