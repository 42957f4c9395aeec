package slab

import (
	"fmt"
	"hash/maphash"
	"math"
)

// table is a hash table with linear probing: a key is in the first slot from its home
// on that is not taken, and a deletion moves back those behind it, so that no slot
// between the two is free. Homes grow with hashes, so the table can have any size.
type table[V any] struct {
	slots []slot[V]
	count int
	seed  maphash.Seed
	used  usage
	text  text

	tail func(*V) uint32 // the bytes behind a key that belong to it, or nil for none
}

// slot is the place of one key.
type slot[V any] struct {
	hash   uint32 // 0 if no key is here
	place  uint32 // of the key in the text
	length uint32 // of the key
	value  V
}

// A table is grown when more than 3 of 4 slots are taken: a lookup of a key that is
// not there then looks at 8 slots, which are two cache lines.
const (
	taken, of  = 3, 4
	fewSlots   = 8
	maxEntries = min(1<<31, math.MaxInt/4)
)

// slotsFor returns how many slots n entries need.
func slotsFor(n int) int { return max(n+(n*(of-taken)+taken-1)/taken, fewSlots) }

func (t *table[V]) hash(key string) uint32 {
	return max(uint32(maphash.String(t.seed, key)>>32), 1)
}

func (t *table[V]) home(hash uint32) int {
	return int(uint64(hash) * uint64(len(t.slots)) >> 32) //nolint:gosec // less than len
}

func (t *table[V]) keyOf(s *slot[V]) string { return t.text.at(s.place, s.length) }

// find returns the slot of key, or the free slot in which it belongs. There is a free
// slot, unless there is none at all.
func (t *table[V]) find(key string, hash uint32) (i int, found bool) {
	for i = t.home(hash); ; {
		s := &t.slots[i]
		switch {
		case s.hash == hash && int(s.length) == len(key) && t.keyOf(s) == key:
			return i, true
		case s.hash == 0:
			return i, false
		}
		if i++; i == len(t.slots) {
			i = 0
		}
	}
}

// get returns the slot of key, or nil.
func (t *table[V]) get(key string) *slot[V] {
	if t.count == 0 {
		return nil
	}
	if i, found := t.find(key, t.hash(key)); found {
		return &t.slots[i]
	}
	return nil
}

// extent returns how many bytes of the text belong to a slot.
func (t *table[V]) extent(s *slot[V]) int {
	n := int(s.length)
	if t.tail != nil {
		n += int(t.tail(&s.value))
	}
	return n
}

// put returns the slot of key, which it adds, followed by tail in the text, if the key
// is not there.
func (t *table[V]) put(key, tail, op string) (s *slot[V], found bool) {
	if taken*len(t.slots) < of*(t.count+1) {
		t.resize(slotsFor(t.count+t.count/2+1), op)
	}
	hash := t.hash(key)
	i, found := t.find(key, hash)
	s = &t.slots[i]
	if !found {
		place := t.write(key, tail, op)
		*s = slot[V]{hash: hash, place: place, length: uint32(len(key))} //nolint:gosec // the text holds it
		t.count++
	}
	return s, found
}

// write appends key and tail to the text. Both may be strings of this text.
func (t *table[V]) write(key, tail, op string) (place uint32) {
	if n := len(key) + len(tail); !t.text.fits(n) {
		if t.text.dead > len(t.text.bytes)/3 {
			t.compact(cap(t.text.bytes))
		}
		if !t.text.fits(n) {
			t.text.grow(n, op)
		}
	}
	b := t.text.bytes
	t.text.bytes = append(append(b, key...), tail...)
	return uint32(len(b)) //nolint:gosec // at most maxText
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
	for i := range t.slots {
		s := &t.slots[i]
		if s.hash != 0 {
			b := from[s.place:][:t.extent(s)]
			s.place = uint32(len(to)) //nolint:gosec // less than before
			to = append(to, b...)
		}
	}
	t.text.bytes, t.text.spare, t.text.dead = to, from, 0
}

// resize gives the table n slots.
func (t *table[V]) resize(n int, op string) {
	if n > slotsFor(maxEntries) {
		panic(fmt.Sprintf("slab: %s: more than %d entries in one map", op, maxEntries))
	}
	if t.count == 0 {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]slot[V], n)
	for k := range old {
		if old[k].hash == 0 {
			continue
		}
		i := t.home(old[k].hash)
		for t.slots[i].hash != 0 {
			if i++; i == n {
				i = 0
			}
		}
		t.slots[i] = old[k]
	}
}

// growBy makes room for n more entries.
func (t *table[V]) growBy(n int) {
	if n < 0 {
		panic(fmt.Sprintf("slab: Grow by %d entries", n))
	}
	if taken*len(t.slots) < of*(t.count+n) {
		t.resize(slotsFor(t.count+n), "Grow")
	}
}

// delete deletes key.
func (t *table[V]) delete(key string) {
	if t.count == 0 {
		return
	}
	if i, found := t.find(key, t.hash(key)); found {
		t.remove(i)
	}
}

// shrink compacts the text into a buffer of its size.
func (t *table[V]) shrink() {
	if t.text.dead == 0 {
		return
	}
	t.compact(len(t.text.bytes) - t.text.dead)
	discard(t.text.spare)
	t.text.spare = nil
}

// remove takes the key out of slot i, and moves back those that are behind their home.
func (t *table[V]) remove(i int) {
	t.text.dead += t.extent(&t.slots[i])
	for j := i; ; {
		if j++; j == len(t.slots) {
			j = 0
		}
		if t.slots[j].hash == 0 {
			break
		}
		home := t.home(t.slots[j].hash)
		if i < j && i < home && home <= j || j < i && (i < home || home <= j) {
			continue // it is not behind i
		}
		t.slots[i] = t.slots[j]
		i = j
	}
	t.slots[i] = slot[V]{}
	t.count--
}

// reset empties t, and keeps its memory.
func (t *table[V]) reset() {
	if t.slots == nil {
		return
	}
	if keep := t.used.ended(slotsFor(t.count), len(t.slots)); keep < len(t.slots)/2 {
		t.slots = make([]slot[V], keep)
	} else {
		clear(t.slots)
	}
	t.count, t.seed = 0, maphash.MakeSeed()
	t.text.reset()
}

// copyFrom makes t a copy of from.
func (t *table[V]) copyFrom(from *table[V], op string) {
	if t == from {
		return
	}
	t.text.reset()
	clear(t.slots[min(len(t.slots), len(from.slots)):])
	t.slots = append(t.slots[:0], from.slots...)
	t.count, t.seed, t.tail = from.count, from.seed, from.tail
	if n := len(from.text.bytes); !t.text.fits(n) {
		t.text.grow(n, op)
	}
	t.text.bytes = append(t.text.bytes, from.text.bytes...)
	t.text.dead = from.text.dead
}
