package slab

import (
	"fmt"
	"hash/maphash"
)

// table is an index whose keys have values of type V, each in the slot of its key.
type table[V any] struct {
	index
	values []V
	used   usage // of buckets
	peak   int   // the most of them that this life needed before a deletion, or asked for

	pending *pending[V] // nil but in a SetAll
	spare   *pending[V] // for the next
}

// put returns the slot of key, which it adds if it is not there, and in a text of pairs
// value with it.
func (t *table[V]) put(key, value, op string) (at int, found bool) {
	t.notInside(op)
	if t.full(1) {
		t.resize(bucketsFor(max(t.count+1, min(t.count+t.count/2+1, maxEntries))), op)
	}
	hash := t.hash(key)
	if at, _ := t.find(key, hash); at >= 0 {
		return at, true
	}
	return t.insert(hash, t.write(key, value, op)), false
}

// write appends key and value to the text. Both may be strings of this text.
func (t *table[V]) write(key, value, op string) (place uint32) {
	if !t.text.fitsBoth(key, value) {
		key, value = t.makeRoom(key, value, op)
	}
	return t.text.append(key, value)
}

// makeRoom makes room in the text for key and value, where there is none. It returns
// copies of those that do not outlive that: strings of the buffer before the last
// compaction.
func (t *table[V]) makeRoom(key, value, op string) (string, string) {
	if t.text.dead > len(t.text.bytes)/3 {
		key, value = t.text.outliving(key), t.text.outliving(value)
		t.text.peak = max(t.text.peak, cap(t.text.bytes))
		t.compact(cap(t.text.bytes))
	}
	if !t.text.fitsBoth(key, value) {
		t.text.grow(len(key)+len(value)+2*mostHead, op)
	}
	return key, value
}

// compact moves the text to another buffer, of that size, without its dead bytes. The
// strings in the buffer stay as they are until the next time.
func (t *table[V]) compact(size int) {
	from, to := t.text.bytes, t.text.spare
	if to != nil && cap(to) == size {
		to = recycle(to)
	} else {
		discard(to)
		to = allocate(size)
	}
	for _, place := range t.all {
		b := from[*place:][:t.text.extent(*place)]
		*place = uint32(len(to)) //nolint:gosec // less than before
		to = append(to, b...)
	}
	t.text.bytes, t.text.spare, t.text.dead = to, from, 0
}

// resize gives the table that many buckets.
func (t *table[V]) resize(buckets int, op string) {
	if buckets > bucketsFor(maxEntries) {
		panicOfEntries(op)
	}
	if len(t.buckets) == 0 {
		t.seed = maphash.MakeSeed()
	}
	from, values := t.index, t.values
	t.makeSlots(buckets)
	t.count = 0
	for at, place := range from.all {
		t.values[t.insert(t.hash(t.text.string(*place)), *place)] = values[at]
	}
}

func panicOfEntries(op string) {
	panic(fmt.Sprintf("slab: %s: more than %d entries in one map", op, maxEntries))
}

func (t *table[V]) makeSlots(buckets int) {
	t.buckets, t.values = inHugePages(make([]bucket, buckets)), inHugePages(make([]V, buckets*perBucket))
}

// growBy makes room for n more entries.
func (t *table[V]) growBy(n int) {
	t.notInside("Grow")
	if n < 0 {
		panic(fmt.Sprintf("slab: Grow by %d entries", n))
	}
	if n > maxEntries-t.count {
		panicOfEntries("Grow")
	}
	t.peak = max(t.peak, bucketsFor(t.count+n))
	if t.full(n) {
		t.resize(bucketsFor(t.count+n), "Grow")
	}
}

// delete deletes key.
func (t *table[V]) delete(key string) {
	t.notInside("Delete")
	at, _ := t.lookup(key)
	if at < 0 {
		return
	}
	t.peak = max(t.peak, bucketsFor(t.count))
	t.text.dead += t.text.extent(*t.place(at))
	t.remove(at, t.hash(key))
	clear(t.values[at:][:1])
}

// shrink compacts the text into a buffer of its size.
func (t *table[V]) shrink() {
	t.notInside("Compact")
	if t.text.dead == 0 {
		return
	}
	t.compact(len(t.text.bytes) - t.text.dead)
	discard(t.text.spare)
	t.text.spare = nil
}

// reset empties t, and keeps its memory.
func (t *table[V]) reset() {
	t.notInside("Reset")
	t.endLife()
	clear(t.buckets)
	clear(t.values)
	t.seed = maphash.MakeSeed()
}

// endLife ends the strings of t, and gives up memory that no life needed for a while. The
// table is as large as its memory then, which a copy of a smaller one may have cut, and
// not cleared.
func (t *table[V]) endLife() {
	if keep := t.used.ended(max(bucketsFor(t.count), t.peak), cap(t.buckets)); keep < cap(t.buckets)/2 {
		t.makeSlots(keep)
	}
	t.buckets, t.values = t.buckets[:cap(t.buckets)], t.values[:cap(t.buckets)*perBucket]
	t.count, t.peak = 0, 0
	t.text.reset()
}

// copyFrom makes t a copy of from.
func (t *table[V]) copyFrom(from *table[V], op string) {
	if t == from {
		return
	}
	t.notInside(op)
	from.notInside(op)
	if t.count > 0 || len(t.text.bytes) > 0 { // or Reset has ended the life
		t.endLife()
	}
	n := len(from.buckets)
	t.peak = n
	if cap(t.buckets) < n {
		t.makeSlots(n)
	}
	clear(t.values[min(len(t.values), len(from.values)):])
	t.buckets, t.values = t.buckets[:n], t.values[:n*perBucket]
	copy(t.buckets, from.buckets)
	copy(t.values, from.values)
	t.count, t.seed = from.count, from.seed
	t.text.copyFrom(&from.text, op)
}
