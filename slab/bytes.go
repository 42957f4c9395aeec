package slab

import "unsafe"

// Bytes is a set of chunks of memory that strings are copied to.
//
// A string that it returned is valid until Reset. Bytes has one writer; the strings
// are read by any number of goroutines. The zero value is ready. A Bytes must not be
// copied.
//
// It allocates chunks, from 4 KiB to 1 MiB and larger for a longer string, and Reset
// keeps them, up to the most that one of the last lives needed. Each method takes
// time for the bytes that it copies; Reset takes none, but for dropping chunks.
type Bytes struct {
	_      noCopy
	chunks [][]byte // those before current are full, those after it empty
	now    int      // the index of the chunk that is filled, if there is one
	used   usage    // of their bytes
}

const (
	firstChunk = 4 << 10
	largeChunk = 1 << 20
)

// String returns a string of the bytes of p.
func (b *Bytes) String(p []byte) string { return b.Clone(view(p)) }

// Clone returns a copy of s.
func (b *Bytes) Clone(s string) string { return b.Append("", view2(s)) }

// Append returns s followed by p. If s is the last string that b made, and there is
// room, it grows in place, so that a string made in pieces is not copied for each.
func (b *Bytes) Append(s string, p []byte) string {
	n := len(s) + len(p)
	if n == 0 {
		return ""
	}
	if len(b.chunks) > 0 && len(s) > 0 {
		chunk := b.chunks[b.now]
		at := len(chunk) - len(s)
		if at >= 0 && &chunk[at] == unsafe.StringData(s) && len(p) <= cap(chunk)-len(chunk) {
			chunk = append(chunk, p...)
			b.chunks[b.now] = chunk
			return view(chunk[at:])
		}
	}
	chunk := append(append(b.room(n), s...), p...)
	b.chunks[b.now] = chunk
	return view(chunk[len(chunk)-n:])
}

// room returns the chunk that is filled, which has room for n bytes.
func (b *Bytes) room(n int) []byte {
	if len(b.chunks) > 0 && n <= cap(b.chunks[b.now])-len(b.chunks[b.now]) {
		return b.chunks[b.now]
	}
	next := b.now + 1
	if len(b.chunks) == 0 {
		next = 0
	}
	for i := next; i < len(b.chunks); i++ {
		if cap(b.chunks[i]) >= n {
			b.chunks[next], b.chunks[i] = b.chunks[i], b.chunks[next]
			b.now = next
			return b.chunks[next]
		}
	}
	size := firstChunk
	if len(b.chunks) > 0 {
		size = min(2*cap(b.chunks[len(b.chunks)-1]), largeChunk)
	}
	b.chunks = append(b.chunks, allocate(max(n, size)))
	last := len(b.chunks) - 1
	b.chunks[next], b.chunks[last] = b.chunks[last], b.chunks[next]
	b.now = next
	return b.chunks[next]
}

// Reset empties b: the strings that it made are not valid any more.
func (b *Bytes) Reset() {
	if len(b.chunks) == 0 {
		return
	}
	needed, held := 0, 0
	for i, chunk := range b.chunks {
		held += cap(chunk)
		if i <= b.now { // a chunk of the usual size is needed whole, if at all
			needed += min(cap(chunk), max(len(chunk), largeChunk))
		}
	}
	keep := held
	if most := b.used.ended(needed, held); most < held/2 {
		keep = most
	}
	kept := b.chunks[:0]
	for _, chunk := range b.chunks {
		if cap(chunk) <= max(keep, firstChunk) {
			kept, keep = append(kept, recycle(chunk)), keep-cap(chunk)
		} else {
			discard(chunk)
		}
	}
	clear(b.chunks[len(kept):])
	b.chunks, b.now = kept, 0
}
