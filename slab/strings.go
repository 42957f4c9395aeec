package slab

import "iter"

// Strings is a map of strings to strings, with keys and values in one slab: a lookup
// misses the cache twice, once for the table and once for key and value, and the garbage
// collector looks into none of them. It is a [Map] in all else; its 4 GiB are of keys
// and values together, those that were deleted or overwritten included until they are
// compacted.
type Strings struct {
	_ noCopy
	t table[struct{}] // whose text is of pairs

	add      func(key, value string) bool // of SetAll, made once
	addBytes func(key, value []byte) bool
}

// Set sets the value of key. It keeps a copy of both, which may be strings of this
// slab.
func (m *Strings) Set(key, value string) {
	m.t.text.pairs = true
	at, found := m.t.put(key, value, "Set")
	if !found {
		return
	}
	place := m.t.place(at)
	if _, end := m.t.text.at(*place); m.t.text.string(end) != value {
		written := m.t.write(key, value, "Set") // it may move the old ones
		m.t.text.dead += m.t.text.extent(*place)
		*place = written
	}
}

// SetBytes is Set(string(key), string(value)).
func (m *Strings) SetBytes(key, value []byte) { m.Set(view(key), view(value)) }

// SetAll sets the entries that a loop over all of them yields, as [Map.SetAll] does. Each
// is copied before the next is asked for.
func (m *Strings) SetAll(entries iter.Seq2[string, string]) {
	if m.add == nil {
		m.add = func(key, value string) bool {
			m.t.add(key, value, struct{}{})
			return true
		}
	}
	m.t.text.pairs = true
	m.t.begin()
	defer m.t.end()
	entries(m.add)
}

// SetAllBytes is SetAll for bytes, which may change when the next entry is asked for.
func (m *Strings) SetAllBytes(entries iter.Seq2[[]byte, []byte]) {
	if m.addBytes == nil {
		m.addBytes = func(key, value []byte) bool {
			m.t.add(view(key), view(value), struct{}{})
			return true
		}
	}
	m.t.text.pairs = true
	m.t.begin()
	defer m.t.end()
	entries(m.addBytes)
}

// Get returns the value of key, and whether key is there. The value is a string of the
// slab.
func (m *Strings) Get(key string) (value string, ok bool) {
	if m.t.count == 0 {
		return "", false
	}
	at, place := m.t.find(key, m.t.hash(key))
	if at < 0 {
		return "", false
	}
	begin, end, ok := m.t.text.short(place)
	if !ok {
		begin, end = m.t.text.long(place)
	}
	return m.t.text.all()[begin:end], true
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
		for _, place := range m.t.all {
			begin, end := m.t.text.at(*place)
			if !yield(m.t.text.all()[begin:end], m.t.text.string(end)) {
				return
			}
		}
	}
}

// Grow makes room for n more entries, but not for their bytes. It panics if n is negative.
func (m *Strings) Grow(n int) { m.t.growBy(n) }

// Compact is that of [Map.Compact], of deleted and overwritten strings.
func (m *Strings) Compact() { m.t.shrink() }

// Reset is that of [Map.Reset].
func (m *Strings) Reset() { m.t.reset() }

// CopyFrom is that of [Map.CopyFrom].
func (m *Strings) CopyFrom(from *Strings) { m.t.copyFrom(&from.t, "CopyFrom") }
