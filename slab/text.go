package slab

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unsafe"
)

// text is the memory of the keys and values of a map: one buffer, so that a place in
// it takes 4 bytes and a lookup misses the cache once. Each string follows its length,
// a varint, and a value its key.
type text struct {
	bytes    []byte
	pairs    bool     // each key has a value
	spare    []byte   // the buffer before the last compaction
	outgrown [][]byte // in a debugging build, the buffers before
	dead     int      // bytes of deleted and overwritten strings
	used     usage

	peak int // the largest buffer that Set compacted in one of the lives that used has
}

// maxText is how many bytes a text can hold.
var maxText = min(math.MaxInt, math.MaxUint32)

const firstText = 1 << 10

// all returns the text as a string.
func (t *text) all() string { return *(*string)(unsafe.Pointer(&t.bytes)) }

const (
	longer   = 0x80 // the lowest length that takes more than one byte
	mostHead = 5    // bytes that a length takes at most
)

// at returns where the string at that place begins and ends.
func (t *text) at(place uint32) (begin, end uint32) {
	begin, end, ok := t.short(place)
	if !ok {
		begin, end = t.long(place)
	}
	return begin, end
}

// short is at for a length of one byte; otherwise it reports false, and long is for it.
// The compiler inlines it.
func (t *text) short(place uint32) (begin, end uint32, ok bool) {
	n := t.bytes[place]
	return place + 1, place + 1 + uint32(n), n < longer
}

func (t *text) long(place uint32) (begin, end uint32) {
	n, size := binary.Uvarint(t.bytes[place:])
	begin = place + uint32(size)    //nolint:gosec // a few
	return begin, begin + uint32(n) //nolint:gosec // the text holds it
}

// string returns the string at that place.
func (t *text) string(place uint32) string {
	begin, end := t.at(place)
	return t.all()[begin:end]
}

// extent returns the bytes of the key at that place, and of its value.
func (t *text) extent(place uint32) int {
	_, end := t.at(place)
	if t.pairs {
		_, end = t.at(end)
	}
	return int(end - place)
}

// append appends key, and its value, for which there is room.
func (t *text) append(key, value string) (place uint32) {
	place = uint32(len(t.bytes)) //nolint:gosec // at most maxText
	b := appendTo(t.bytes, key)
	if t.pairs {
		b = appendTo(b, value)
	}
	t.bytes = b
	return place
}

func appendTo(b []byte, s string) []byte {
	if len(s) < longer {
		return append(append(b, byte(len(s))), s...)
	}
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// fits reports whether there is room for n more bytes. A sum of lengths that overflowed
// is negative, and never fits.
func (t *text) fits(n int) bool { return uint(n) <= uint(cap(t.bytes)-len(t.bytes)) }

// fitsBoth reports whether there is room for key and value.
func (t *text) fitsBoth(key, value string) bool { return t.fits(len(key) + len(value) + 2*mostHead) }

// outliving returns s, or a copy if it is of the buffer that the next compaction uses.
func (t *text) outliving(s string) string {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(t.spare)))
	if at := uintptr(unsafe.Pointer(unsafe.StringData(s))); at-begin < uintptr(len(t.spare)) {
		return strings.Clone(s)
	}
	return s
}

// grow makes room for n more bytes.
func (t *text) grow(n int, op string) {
	if n < 0 || n > maxText-len(t.bytes) {
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
	keep := t.used.ended(max(len(t.bytes)+2*mostHead, t.peak), cap(t.bytes))
	for _, b := range t.outgrown {
		discard(b)
	}
	t.outgrown, t.dead = nil, 0
	if keep < cap(t.bytes)/2 {
		discard(t.bytes)
		t.bytes = allocate(keep)
	} else if t.bytes != nil {
		t.bytes = recycle(t.bytes)
	}
	if cap(t.spare) == cap(t.bytes) && (t.peak > 0 || t.used.lives > 0) {
		t.spare = recycle(t.spare)
	} else {
		discard(t.spare)
		t.spare = nil
	}
	if t.used.lives == 0 {
		t.peak = 0
	}
}

// copyFrom makes t, which is empty, a copy of from.
func (t *text) copyFrom(from *text, op string) {
	if n := len(from.bytes); !t.fits(n) {
		t.grow(n, op)
	}
	t.bytes = append(t.bytes, from.bytes...)
	t.dead, t.pairs = from.dead, from.pairs
}
