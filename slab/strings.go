package slab

import "iter"

// Strings is a map of strings to strings, with keys and values in one slab: a lookup
// misses the cache twice, once for the slot and once for key and value, and the garbage
// collector looks into none of them. It is a [Map] in all else; its 4 GiB are of keys
// and values together, those that were deleted or overwritten included until they are
// compacted.
type Strings struct {
	_ noCopy
	t table[uint32] // the value is the length of the value, which follows its key
}

// lengthOf returns the bytes of a value.
func lengthOf(length *uint32) uint32 { return *length }

// Set sets the value of key. It keeps a copy of both, which may be strings of this
// slab.
func (m *Strings) Set(key, value string) {
	m.t.tail = lengthOf
	s, found := m.t.put(key, value, "Set")
	if found {
		if m.value(s) == value {
			return
		}
		place := m.t.write(key, value, "Set") // it may move the old ones
		m.t.text.dead += m.t.extent(s)
		s.place = place
	}
	s.value = uint32(len(value)) //nolint:gosec // the text holds it
}

// SetBytes is Set(string(key), string(value)).
func (m *Strings) SetBytes(key, value []byte) { m.Set(view(key), view(value)) }

// value returns the value of a slot.
func (m *Strings) value(s *slot[uint32]) string { return m.t.text.at(s.place+s.length, s.value) }

// Get returns the value of key, and whether key is there. The value is a string of the
// slab.
func (m *Strings) Get(key string) (value string, ok bool) {
	if s := m.t.get(key); s != nil {
		return m.value(s), true
	}
	return "", false
}

// GetBytes is Get(string(key)).
func (m *Strings) GetBytes(key []byte) (value string, ok bool) { return m.Get(view(key)) }

// Delete deletes key, if it is there.
func (m *Strings) Delete(key string) { m.t.delete(key) }

// Len returns the number of entries.
func (m *Strings) Len() int { return m.t.count }

// All returns the entries, in no particular order: strings of the slab. The map must
// not be changed meanwhile.
func (m *Strings) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := range m.t.slots {
			s := &m.t.slots[i]
			if s.hash != 0 && !yield(m.t.keyOf(s), m.value(s)) {
				return
			}
		}
	}
}

// Grow makes room for n more entries, but not for their bytes.
func (m *Strings) Grow(n int) { m.t.growBy(n) }

// Compact is that of [Map.Compact], of deleted and overwritten strings.
func (m *Strings) Compact() { m.t.shrink() }

// Reset is that of [Map.Reset].
func (m *Strings) Reset() { m.t.reset() }

// CopyFrom is that of [Map.CopyFrom].
func (m *Strings) CopyFrom(from *Strings) { m.t.copyFrom(&from.t, "CopyFrom") }
