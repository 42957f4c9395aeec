package slab

import (
	"fmt"
	"hash/maphash"
	"unsafe"
)

// LimitText sets how many bytes a map may hold, and returns a function that sets it
// back.
func LimitText(n int) (back func()) {
	old := maxText
	maxText = n
	return func() { maxText = old }
}

// MaxEntries is the number of entries that a map can have.
const MaxEntries = maxEntries

// Held returns the bytes of memory that a Strings holds in its text and its slots.
func (m *Strings) Held() (text, slots int) {
	return cap(m.t.text.bytes) + cap(m.t.text.spare), 64 * cap(m.t.buckets)
}

// Text returns the buffer of the text.
func (m *Strings) Text() *byte { return unsafe.SliceData(m.t.text.bytes) }

// Held returns the bytes of memory that b holds.
func (b *Bytes) Held() (bytes int) {
	for _, chunk := range b.chunks {
		bytes += cap(chunk)
	}
	return bytes
}

// HashOf returns the hash of key.
func (m *Map[V]) HashOf(key string) uint64 { return m.t.hash(key) }

// Seed returns the seed of the hashes.
func (m *Map[V]) Seed() maphash.Seed { return m.t.seed }

// Account returns an error if what the table counts differs from what is there: the
// keys that went past each bucket, the entries, the dead bytes of the text.
func (m *Map[V]) Account() error { return m.t.account() }

// Account is that of Map.
func (m *Strings) Account() error { return m.t.account() }

func (t *table[V]) account() error {
	past := make([]uint64, len(t.buckets))
	count, live := 0, 0
	for at, place := range t.all {
		count++
		live += t.text.extent(*place)
		for i := t.home(t.hash(t.text.string(*place))); i != at/perBucket; i = t.after(i) {
			past[i]++
		}
	}
	for i := range t.buckets {
		if got := t.buckets[i].tags[0]>>48 | t.buckets[i].tags[1]>>48<<16; got != past[i] {
			return fmt.Errorf("bucket %d counts %d keys that went past, and %d did", i, got, past[i])
		}
	}
	if dead := len(t.text.bytes) - live; count != t.count || dead != t.text.dead {
		return fmt.Errorf("%d entries and %d dead bytes are counted, and there are %d and %d", t.count, t.text.dead, count, dead)
	}
	return nil
}

// Pass has n keys go past a bucket, or come back, and reports whether some are past it.
func Pass(n int) (counted uint64, passed func(back int) bool) {
	b := new(bucket)
	b.setTag(3, 0, 7)
	for range n {
		b.pass()
	}
	return b.tags[0]>>48 | b.tags[1]>>48<<16, func(back int) bool {
		for range back {
			b.unpass()
		}
		return b.isPassed()
	}
}
