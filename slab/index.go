package slab

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
)

// index is a hash table of keys in a text. It holds no keys and no hashes, only 12
// places to a bucket of one cache line and one byte of the hash for each: a lookup
// misses the cache for the bucket and for the text, and rarely for another key.
//
// A key that finds its bucket full goes to the next, and each bucket counts those that
// went past it: a search ends at the first bucket that none went past. (The counters
// are those of Folly's F14.)
type index struct {
	buckets []bucket
	count   int
	seed    maphash.Seed
	text    text
}

// bucket has 12 slots, each with a tag: 0 if it is free, otherwise of the key's hash.
type bucket struct {
	// The tags of slots 0, 2, 4 ... and of 1, 3, 5 ..., from the lowest byte up. In the
	// upper 16 bits of each are 16 bits of the number of keys that went past.
	tags   [2]uint64
	places [perBucket]uint32
}

// An index is grown when more than 3 of 4 slots are taken.
const (
	perBucket  = 12
	taken      = perBucket * 3 / 4
	maxEntries = min(1<<31, math.MaxInt/4)

	eachTag = 0x01_01_01_01_01_01
	topBits = eachTag << 7
	onePast = 1 << 48
)

// bucketsFor returns how many buckets n entries need.
func bucketsFor(n int) int { return n/taken + 1 }

// full reports whether there is no room for n more entries.
func (x *index) full(n int) bool { return x.count+n > taken*len(x.buckets) }

// hash takes the bytes, since maphash has one call less for them than for a string.
func (x *index) hash(key string) uint64 { return maphash.Bytes(x.seed, view2(key)) }

// tag returns the tag of the keys with that hash: 2 or more, so that match takes no
// free slot for one with the tag.
func tag(hash uint64) uint64 { return max(hash&0xff, 2) }

// home returns the bucket at which the search for a hash begins. It depends on the
// upper half of the hash, the tag on the lower.
func (x *index) home(hash uint64) int {
	return int(hash >> 32 * uint64(len(x.buckets)) >> 32) //nolint:gosec // less than their number
}

// after returns the bucket after i.
func (x *index) after(i int) int {
	if i++; i == len(x.buckets) {
		return 0
	}
	return i
}

// match returns a set of the slots with that tag, and perhaps of some behind the first
// of them whose tag differs in the lowest bit.
func (b *bucket) match(tag uint64) (set uint64) {
	even, odd := b.tags[0]^tag*eachTag, b.tags[1]^tag*eachTag
	even = (even - eachTag) &^ even & topBits
	odd = (odd - eachTag) &^ odd & topBits
	return even>>7 | odd>>3
}

// first returns the slot of the lowest bit in a set.
func first(set uint64) int { return bits.TrailingZeros64(set) >> 2 }

// setTag changes the tag of a slot.
func (b *bucket) setTag(slot int, from, to uint64) {
	b.tags[slot&1] ^= (from ^ to) << (slot >> 1 * 8)
}

// isTaken reports whether a slot is not free.
func (b *bucket) isTaken(slot int) bool { return b.tags[slot&1]>>(slot>>1*8)&0xff != 0 }

// isPassed reports whether a key went past.
func (b *bucket) isPassed() bool { return (b.tags[0] | b.tags[1]) >= onePast }

// pass counts a key that went past.
func (b *bucket) pass() {
	if b.tags[0] += onePast; b.tags[0] < onePast {
		b.tags[1] += onePast
	}
}

// unpass counts one less.
func (b *bucket) unpass() {
	if b.tags[0] < onePast {
		b.tags[1] -= onePast
	}
	b.tags[0] -= onePast
}

// find returns the slot of key, counted through all buckets, and where key ends in the
// text, or a negative slot. There is a bucket.
func (x *index) find(key string, hash uint64) (at int, end uint32) {
	i := x.home(hash)
	for range x.buckets { // in the worst case, keys went past all of them
		b := &x.buckets[i]
		for set := b.match(tag(hash)); set != 0; set &= set - 1 {
			slot := first(set)
			place := b.places[slot]
			if len(key) >= longer {
				if begin, end := x.text.long(place); x.text.all()[begin:end] == key {
					return i*perBucket + slot, end
				}
			} else if s := x.text.all()[place:]; len(s) > len(key) && int(s[0]) == len(key) && equal(s[1:len(key)+1], key) {
				return i*perBucket + slot, place + 1 + uint32(len(key)) //nolint:gosec // it is short
			}
		}
		if !b.isPassed() {
			break
		}
		i = x.after(i)
	}
	return -1, 0
}

// equal reports whether two strings of one length are equal, without a call for those of 8
// to 16 bytes.
func equal(a, b string) bool {
	if n := len(b); 8 <= n && n <= 16 && len(a) == n {
		x, y := view2(a), view2(b)
		return (binary.NativeEndian.Uint64(x)^binary.NativeEndian.Uint64(y))|(binary.NativeEndian.Uint64(x[n-8:])^binary.NativeEndian.Uint64(y[n-8:])) == 0
	}
	return a == b
}

// lookup is find in an index that may have no buckets.
func (x *index) lookup(key string) (at int, end uint32) {
	if x.count == 0 {
		return -1, 0
	}
	return x.find(key, x.hash(key))
}

// place returns the place in the text of the key in a slot.
func (x *index) place(at int) *uint32 { return &x.buckets[at/perBucket].places[at%perBucket] }

// insert gives a key that is not there a slot. There is room.
func (x *index) insert(hash uint64, place uint32) (at int) {
	for i := x.home(hash); ; i = x.after(i) {
		b := &x.buckets[i]
		if free := b.match(0); free != 0 {
			slot := first(free)
			b.setTag(slot, 0, tag(hash))
			b.places[slot] = place
			x.count++
			return i*perBucket + slot
		}
		b.pass()
	}
}

// remove frees a slot, whose key has that hash.
func (x *index) remove(at int, hash uint64) {
	end := at / perBucket
	x.buckets[end].setTag(at%perBucket, tag(hash), 0)
	x.count--
	for i := x.home(hash); i != end; i = x.after(i) {
		x.buckets[i].unpass()
	}
}

// all yields the slots that are taken, with their places.
func (x *index) all(yield func(at int, place *uint32) bool) {
	for i := range x.buckets {
		b := &x.buckets[i]
		for slot := range b.places {
			if b.isTaken(slot) && !yield(i*perBucket+slot, &b.places[slot]) {
				return
			}
		}
	}
}
