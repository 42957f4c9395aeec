//go:build !poolswapdebug

package slab

// debugging is true in a build that finds strings that are kept too long.
const debugging = false

// allocate returns an empty buffer of n bytes.
func allocate(n int) []byte { return inHugePages(make([]byte, 0, n)) }

// recycle returns the buffer of strings that are not valid any more, empty.
func recycle(b []byte) []byte { return b[:0] }

// discard gives up a buffer of strings that are not valid any more.
func discard([]byte) {}
