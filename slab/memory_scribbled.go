//go:build poolswapdebug && !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package slab

// debugging is true in a build that finds strings that are kept too long. Here they
// turn to a pattern when they end, and stay it: no protection can be had.
const debugging = true

// allocate returns an empty buffer of n bytes.
func allocate(n int) []byte { return make([]byte, 0, n) }

// recycle returns a buffer for other strings, of the size of b, whose strings are not
// valid any more.
func recycle(b []byte) []byte {
	discard(b)
	return allocate(cap(b))
}

// discard gives up a buffer of strings that are not valid any more.
func discard(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xdb
	}
}
