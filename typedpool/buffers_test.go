package typedpool_test

import (
	"bytes"
	"testing"

	"github.com/poolswap/poolswap/typedpool"
)

func TestBuffers(t *testing.T) {
	t.Run("a buffer comes back empty, with its capacity", func(t *testing.T) {
		var p typedpool.Buffers
		eventually(t, "Get returns the buffer just put", func() bool {
			b := p.Get()
			b.WriteString("something to forget")
			b.Next(3)
			p.Put(b)
			c := p.Get()
			if c.Len() != 0 {
				t.Errorf("Get returned a buffer that holds %q", c)
			}
			return c == b && c.Cap() > 0
		})
	})
	for _, c := range []struct {
		name  string
		pool  *typedpool.Buffers
		limit int
	}{
		{"the zero Buffers", new(typedpool.Buffers), 64 << 10},
		{"NewBuffers(100)", typedpool.NewBuffers(100), 100},
	} {
		t.Run(c.name+" keeps a buffer of the limit", func(t *testing.T) {
			eventually(t, "Get returns the buffer just put", func() bool {
				b := bytes.NewBuffer(make([]byte, c.limit))
				c.pool.Put(b)
				return c.pool.Get() == b
			})
		})
		t.Run(c.name+" drops a larger one", func(t *testing.T) {
			for range 100 {
				c.pool.Put(bytes.NewBuffer(make([]byte, 0, c.limit+1)))
				if b := c.pool.Get(); b.Cap() > c.limit {
					t.Fatalf("a buffer of %d bytes came back", b.Cap())
				}
			}
		})
	}
	t.Run("Put of nil does nothing", func(t *testing.T) {
		var p typedpool.Buffers
		p.Put(nil)
		if p.Get() == nil {
			t.Error("Get returned nil")
		}
	})
	t.Run("a limit must be positive", func(t *testing.T) {
		mustPanic(t, func() { typedpool.NewBuffers(0) }, "typedpool: NewBuffers")
	})
}
