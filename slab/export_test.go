package slab

// LimitText sets how many bytes a map may hold, and returns a function that sets it
// back.
func LimitText(n int) (back func()) {
	old := maxText
	maxText = n
	return func() { maxText = old }
}

// Held returns the bytes of memory that a Strings holds in its text and its slots.
func (m *Strings) Held() (text, slots int) {
	return cap(m.t.text.bytes) + cap(m.t.text.spare), 64 * cap(m.t.buckets)
}

// Held returns the bytes of memory that b holds.
func (b *Bytes) Held() (bytes int) {
	for _, chunk := range b.chunks {
		bytes += cap(chunk)
	}
	return bytes
}

// HashOf returns the hash of key.
func (m *Map[V]) HashOf(key string) uint64 { return m.t.hash(key) }
