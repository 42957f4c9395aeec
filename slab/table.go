package slab

import (
	"fmt"
	"hash/maphash"
	"math"
)

// table is a hash table with linear probing, whose slots are in the order of their
// hashes: a search ends at the first hash that is behind its own, so a key that is not
// there takes no longer than one that is. A key's home grows with its hash, so the table
// can have any size, and growing it is one pass over both. Keys that do not fit at
// their home follow it, at the end in slots that are no key's home: the last of all is
// free, so a search looks for no end.
//
// The order is from the largest hash down, since a free slot has hash 0.
type table[V any] struct {
	slots []slot[V]
	homes int // all slots but those behind
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

// A table is grown when more than 3 of 4 homes are taken, or no slot behind them is
// free: a search then looks at 3 slots on average.
const (
	taken, of  = 3, 4
	fewHomes   = 8
	behind     = 24
	maxEntries = min(1<<31, math.MaxInt/4)
)

// homesFor returns how many homes n entries need.
func homesFor(n int) int { return max(n+(n*(of-taken)+taken-1)/taken, fewHomes) }

func (t *table[V]) hash(key string) uint32 {
	return max(uint32(maphash.String(t.seed, key)>>32), 1)
}

func (t *table[V]) home(hash uint32) int {
	return int(uint64(^hash) * uint64(t.homes) >> 32) //nolint:gosec // less than homes
}

func (t *table[V]) keyOf(s *slot[V]) string { return t.text.at(s.place, s.length) }

// find returns the slot of key, or the place at which it belongs. There are slots.
func (t *table[V]) find(key string, hash uint32) (i int, found bool) {
	i = t.home(hash)
	for t.slots[i].hash > hash {
		i++
	}
	for ; t.slots[i].hash == hash; i++ {
		if s := &t.slots[i]; int(s.length) == len(key) && t.keyOf(s) == key {
			return i, true
		}
	}
	return i, false
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
	if taken*t.homes < of*(t.count+1) {
		t.resize(homesFor(t.count+t.count/2+1), op)
	}
	hash := t.hash(key)
	i, found := t.find(key, hash)
	if found {
		return &t.slots[i], true
	}
	place := t.write(key, tail, op)
	for !t.open(i) {
		t.resize(t.homes+t.homes/2, op)
		i, _ = t.find(key, hash)
	}
	s = &t.slots[i]
	*s = slot[V]{hash: hash, place: place, length: uint32(len(key))} //nolint:gosec // the text holds it
	t.count++
	return s, false
}

// open moves the entries from slot i on up to the next free slot, and reports false if
// that is the last.
func (t *table[V]) open(i int) bool {
	free := i
	for t.slots[free].hash != 0 {
		free++
	}
	if free == len(t.slots)-1 {
		return false
	}
	copy(t.slots[i+1:free+1], t.slots[i:free])
	return true
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

// resize gives the table that many homes, or more if the slots behind do not suffice.
func (t *table[V]) resize(homes int, op string) {
	if homes > homesFor(maxEntries) {
		panic(fmt.Sprintf("slab: %s: more than %d entries in one map", op, maxEntries))
	}
	if t.count == 0 {
		t.seed = maphash.MakeSeed()
	}
	for old := t.slots; !t.fill(homes, old); {
		homes += homes / 2
	}
}

// fill makes slots, and fills them with the entries of others. It reports false if that
// takes the last.
func (t *table[V]) fill(homes int, from []slot[V]) bool {
	slots := make([]slot[V], homes+behind)
	t.homes = homes
	next := 0
	for k := range from {
		if from[k].hash == 0 {
			continue
		}
		i := max(t.home(from[k].hash), next)
		if i == len(slots)-1 {
			return false
		}
		slots[i] = from[k]
		next = i + 1
	}
	t.slots = slots
	return true
}

// growBy makes room for n more entries.
func (t *table[V]) growBy(n int) {
	if n < 0 {
		panic(fmt.Sprintf("slab: Grow by %d entries", n))
	}
	if taken*t.homes < of*(t.count+n) {
		t.resize(homesFor(t.count+n), "Grow")
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

// remove takes the key out of slot i, and moves back those that follow their home.
func (t *table[V]) remove(i int) {
	t.text.dead += t.extent(&t.slots[i])
	end := i + 1
	for t.slots[end].hash != 0 && t.home(t.slots[end].hash) < end {
		end++
	}
	copy(t.slots[i:], t.slots[i+1:end])
	t.slots[end-1] = slot[V]{}
	t.count--
}

// reset empties t, and keeps its memory.
func (t *table[V]) reset() {
	if t.slots == nil {
		return
	}
	if keep := t.used.ended(homesFor(t.count), t.homes); keep < t.homes/2 {
		t.homes, t.slots = keep, make([]slot[V], keep+behind)
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
	t.homes, t.count, t.seed, t.tail = from.homes, from.count, from.seed, from.tail
	if n := len(from.text.bytes); !t.text.fits(n) {
		t.text.grow(n, op)
	}
	t.text.bytes = append(t.text.bytes, from.text.bytes...)
	t.text.dead = from.text.dead
}
