//go:build poolswapdebug && (darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package slab

import (
	"fmt"
	"sync"
	"syscall"
)

// debugging is true in a build that finds strings that are kept too long. Each buffer
// is a mapping of its own, which cannot be read any more when its strings end: a
// goroutine that reads one faults at the line that does.
const debugging = true

// withdrawn are the mappings that cannot be read any more, the oldest first. They take
// memory until others have come: then their addresses are used again.
var withdrawn struct {
	sync.Mutex
	mappings [][]byte
	bytes    int
}

const (
	mostWithdrawn      = 4096 // well below the mappings that Linux gives a process
	mostWithdrawnBytes = 1 << 30
)

// allocate returns an empty buffer of n bytes.
func allocate(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("slab: no mapping of %d bytes for the build with poolswapdebug: %v", n, err))
	}
	return b[:0]
}

// recycle returns a buffer for other strings, of the size of b, whose strings are not
// valid any more.
func recycle(b []byte) []byte {
	discard(b)
	return allocate(cap(b))
}

// discard gives up a buffer of strings that are not valid any more.
func discard(b []byte) {
	if cap(b) == 0 {
		return
	}
	b = b[:cap(b)]
	if err := syscall.Mprotect(b, syscall.PROT_NONE); err != nil {
		panic(fmt.Sprintf("slab: the build with poolswapdebug cannot take memory away: %v", err))
	}
	w := &withdrawn
	w.Lock()
	defer w.Unlock()
	w.mappings, w.bytes = append(w.mappings, b), w.bytes+len(b)
	for len(w.mappings) > mostWithdrawn || w.bytes > mostWithdrawnBytes && len(w.mappings) > 1 {
		oldest := w.mappings[0]
		w.mappings, w.bytes = w.mappings[1:], w.bytes-len(oldest)
		if err := syscall.Munmap(oldest); err != nil {
			panic(fmt.Sprintf("slab: the build with poolswapdebug cannot unmap memory: %v", err))
		}
	}
}
