package slab

import "iter"

// Map is a map of strings to values of a type V, with the keys in one slab. A V without
// pointers makes a map that the garbage collector does not look into.
//
// It has one writer; any number of goroutines read it while nobody writes. The zero
// value is ready. A Map must not be copied: CopyFrom does that. A key can be empty, and
// hold any bytes. Hashes are seeded, so whoever chooses the keys cannot choose those
// that collide.
//
// Set, Get and Delete take constant time on average, and allocate only when the map
// grows beyond what it held since its last Reset and in the 16 lives before. A slot of
// the table takes 6 bytes and V, and a quarter to a half of all slots are free while it
// grows; a key takes its bytes and one more for each 7 bits of its length. At most 2^31
// entries fit, and 4 GiB of keys, those that were deleted included until they are
// compacted: a Set beyond panics, and Compact may make room.
type Map[V any] struct {
	_ noCopy
	t table[V]

	add      func(key string, v V) bool // of SetAll, made once
	addBytes func(key []byte, v V) bool
}

// Set sets the value of key, of which it keeps a copy. key may be a string of this slab.
func (m *Map[V]) Set(key string, v V) {
	at, _ := m.t.put(key, "", "Set")
	m.t.values[at] = v
}

// SetBytes is Set(string(key), v).
func (m *Map[V]) SetBytes(key []byte, v V) { m.Set(view(key), v) }

// SetAll sets the entries that a loop over all of them yields, and is faster than Set
// where they are many. Each key, which may be a string of this slab, is copied before the
// next is asked for, also one that is there: its old bytes count as deleted. m keeps memory
// for a batch of 32 values. The loop must not use m; if it panics, the entries until then
// are set.
func (m *Map[V]) SetAll(entries iter.Seq2[string, V]) {
	if m.add == nil {
		m.add = func(key string, v V) bool {
			m.t.add(key, "", v)
			return true
		}
	}
	m.t.begin()
	defer m.t.end()
	entries(m.add)
}

// SetAllBytes is SetAll for keys of bytes, which may change when the next entry is asked
// for.
func (m *Map[V]) SetAllBytes(entries iter.Seq2[[]byte, V]) {
	if m.addBytes == nil {
		m.addBytes = func(key []byte, v V) bool {
			m.t.add(view(key), "", v)
			return true
		}
	}
	m.t.begin()
	defer m.t.end()
	entries(m.addBytes)
}

// Get returns the value of key, and whether key is there.
func (m *Map[V]) Get(key string) (v V, ok bool) {
	if at, _ := m.t.lookup(key); at >= 0 {
		return m.t.values[at], true
	}
	return v, false
}

// GetBytes is Get(string(key)).
func (m *Map[V]) GetBytes(key []byte) (v V, ok bool) { return m.Get(view(key)) }

// Delete deletes key, if it is there.
func (m *Map[V]) Delete(key string) { m.t.delete(key) }

// Len returns the number of entries.
func (m *Map[V]) Len() int { return m.t.count }

// All returns the entries, in no particular order. The keys are strings of the slab.
// The map must not be changed meanwhile.
func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for at, place := range m.t.all {
			if !yield(m.t.text.string(*place), m.t.values[at]) {
				return
			}
		}
	}
}

// Grow makes room for n more entries, but not for the bytes of their keys. It panics if n
// is negative.
func (m *Map[V]) Grow(n int) { m.t.growBy(n) }

// Compact gives up the bytes of deleted keys, but no slots. Set and SetAll do so by
// themselves before they let the slab grow, if these are more than a third of it. Strings
// that the map returned before are not valid any more.
func (m *Map[V]) Compact() { m.t.shrink() }

// Reset empties the map, and keeps its memory up to the most that one of the last lives
// needed. Strings that the map returned are not valid any more.
func (m *Map[V]) Reset() { m.t.reset() }

// CopyFrom makes m a copy of from, with as large a table, which grows from there; m's own
// entries are gone. Strings that m returned are not valid any more, unless from is m itself.
func (m *Map[V]) CopyFrom(from *Map[V]) { m.t.copyFrom(&from.t, "CopyFrom") }
