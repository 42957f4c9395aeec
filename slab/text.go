package slab

import (
	"fmt"
	"math"
)

// text is the memory of the keys and values of a map: one buffer, so that a place in
// it takes 4 bytes and a lookup misses the cache once.
type text struct {
	bytes    []byte
	spare    []byte   // the buffer before the last compaction
	outgrown [][]byte // in a debugging build, the buffers before
	dead     int      // bytes of deleted and overwritten strings
	used     usage
}

// maxText is how many bytes a text can hold.
var maxText = min(math.MaxInt, math.MaxUint32)

const firstText = 1 << 10

// at returns the string of that length at that place.
func (t *text) at(place, length uint32) string {
	return view(t.bytes)[place:][:length]
}

// fits reports whether there is room for n more bytes.
func (t *text) fits(n int) bool { return n <= cap(t.bytes)-len(t.bytes) }

// grow makes room for n more bytes.
func (t *text) grow(n int, op string) {
	if n > maxText-len(t.bytes) {
		panic(fmt.Sprintf("slab: %s: more than %d bytes of keys and values in one map: share the keys out to several, by a hash of your own", op, maxText))
	}
	more := cap(t.bytes) / 2
	if cap(t.bytes) < largeChunk {
		more = cap(t.bytes)
	}
	size := cap(t.bytes) + min(more, maxText-cap(t.bytes))
	size = max(size, len(t.bytes)+n, min(firstText, maxText))
	if debugging && t.bytes != nil {
		t.outgrown = append(t.outgrown, t.bytes)
	}
	t.bytes = append(allocate(size), t.bytes...)
}

// reset empties t.
func (t *text) reset() {
	keep := t.used.ended(len(t.bytes), cap(t.bytes))
	discard(t.spare)
	for _, b := range t.outgrown {
		discard(b)
	}
	t.spare, t.outgrown, t.dead = nil, nil, 0
	if keep < cap(t.bytes)/2 {
		discard(t.bytes)
		t.bytes = allocate(keep)
	} else if t.bytes != nil {
		t.bytes = recycle(t.bytes)
	}
}
