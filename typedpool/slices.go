package typedpool

import (
	"reflect"
	"sync"
	"unsafe"
)

// Slices is a pool of slices with elements of type E. Get returns an empty slice
// with the room asked for; Put takes any slice, and keeps its whole capacity.
//
// The zero Slices is ready to use and keeps slices of up to 64 KiB.
//
// Put passes ownership of the array under the slice, all of its capacity: no
// other slice of the same array may be used after it, and no other may be put.
// A slice cut out of the middle of an array shared with others must not be put.
//
// If E contains pointers (strings, slices, maps, interfaces and functions
// count), Put clears the slice up to its capacity, so that the pool does not
// keep the targets of the elements alive. That costs time proportional to the
// capacity, not to the length: about as much as writing the array once. If E
// contains none, nothing is cleared, and the elements beyond the length of a
// slice that Get returns hold anything.
//
// Slices is safe for use by any number of goroutines. It is good for working
// space that grows by append, and bad for slices of very different sizes, which
// belong in a pool for each size. It must not be copied after first use; go vet
// sees the copy. A call to Put(s) synchronizes before the Get that returns the
// array of that s.
type Slices[E any] struct {
	// A slice header stored in an interface would be allocated anew for each
	// Put. Headers are therefore boxed, and the boxes recycled: full boxes hold
	// the slices of the pool, empty boxes wait for the next Put.
	full, empty Pool[[]E]

	max int // elements of capacity; 0 means defaultMaxBytes; written by the constructor only

	once    sync.Once
	noClear bool // E is free of pointers; written under once
}

// NewSlices returns a pool that keeps slices with a capacity of up to maxCap
// elements and drops larger ones. It panics if maxCap is not positive.
func NewSlices[E any](maxCap int) *Slices[E] {
	if maxCap <= 0 {
		panic("typedpool: NewSlices with a limit that is not positive (nothing would be kept)")
	}
	return &Slices[E]{max: maxCap}
}

// Get returns a slice of length 0 with room for at least n elements and passes
// it to the caller. It allocates if the slice it finds is too small, and then
// drops that one, so the slices of a pool grow to the size that is asked for.
//
// Get panics if n is negative.
func (p *Slices[E]) Get(n int) []E {
	if n < 0 {
		panic("typedpool: Get of a slice with a negative capacity")
	}
	if n > p.limit() {
		return make([]E, 0, n) // never comes from the pool, as Put drops it
	}
	box := p.full.Get()
	s := *box
	*box = nil
	p.empty.Put(box)
	if debugging {
		unclaimSlice(s)
	}
	if cap(s) < n {
		return make([]E, 0, n)
	}
	return s
}

// Put passes the array of s to the pool, or drops it if its capacity is over the
// limit. Put of a slice without capacity does nothing. Put allocates a slice
// header only if none is left to recycle: at first, and after garbage
// collections.
func (p *Slices[E]) Put(s []E) {
	s = s[:cap(s)]
	if len(s) == 0 || unsafe.Sizeof(s[0]) == 0 {
		return // no memory to recycle
	}
	if debugging {
		claimSlice(s)
	}
	if len(s) > p.limit() {
		return
	}
	p.once.Do(p.classify)
	if !p.noClear {
		clear(s)
	}
	if debugging {
		scribble(s)
	}
	box := p.empty.Get()
	*box = s[:0]
	p.full.Put(box)
}

func (p *Slices[E]) limit() int {
	if p.max != 0 {
		return p.max
	}
	return defaultMaxBytes / max(1, int(reflect.TypeFor[E]().Size()))
}

func (p *Slices[E]) classify() { p.noClear = pointerFree(reflect.TypeFor[E]()) }
