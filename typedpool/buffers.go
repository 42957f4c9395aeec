package typedpool

import (
	"bytes"
	"reflect"
)

// defaultMaxBytes is the size of the largest buffer or slice that the zero
// Buffers and the zero Slices keep.
const defaultMaxBytes = 64 << 10

// Buffers is a pool of byte buffers. Each Get returns an empty one, mostly with
// capacity left by its last user; Put takes any.
//
// The zero Buffers is ready to use and keeps buffers of up to 64 KiB.
//
// Put passes ownership of the buffer and of its bytes: a slice that Bytes,
// Next or AvailableBuffer returned must not be used after it. Strings that the
// String method returned are copies and remain valid.
//
// Buffers is safe for use by any number of goroutines. It is good for building
// a message that is written out before Put, and bad for bytes that outlive the
// call. It must not be copied after first use; go vet sees the copy. A call to
// Put(b) synchronizes before the Get that returns that b.
type Buffers struct {
	pool Pool[bytes.Buffer]
	max  int // bytes of capacity; 0 means defaultMaxBytes; written by the constructor only
}

// NewBuffers returns a pool that keeps buffers with a capacity of up to maxBytes
// bytes and drops larger ones. It panics if maxBytes is not positive.
func NewBuffers(maxBytes int) *Buffers {
	if maxBytes <= 0 {
		panic("typedpool: NewBuffers with a limit that is not positive (nothing would be kept)")
	}
	return &Buffers{max: maxBytes}
}

// Get returns an empty buffer and passes it to the caller.
func (p *Buffers) Get() *bytes.Buffer { return p.pool.Get() }

// Put empties b and passes it to the pool, or drops it if it has grown over the
// limit. Put(nil) does nothing.
func (p *Buffers) Put(b *bytes.Buffer) {
	limit := p.max
	if limit == 0 {
		limit = defaultMaxBytes
	}
	if b == nil {
		return
	}
	if b.Cap() > limit {
		if debugging {
			claim(b, reflect.TypeFor[*bytes.Buffer]())
		}
		return
	}
	b.Reset()
	p.pool.Put(b)
}
