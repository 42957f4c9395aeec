//go:build !poolswapsched

package seam

import "sync/atomic"

// Count is a monotone counter. It must be 8-byte aligned on 32-bit platforms.
type Count struct{ n uint64 }

// IncPinned adds one. The calling goroutine is pinned. plain says that the
// Count belongs to the caller's processor, so a plain increment would do: the
// assembly of the read path uses one. Go code adds atomically either way, so
// that none of its accesses is a data race. Both may change the same Count,
// since both hold its processor while they add.
func (c *Count) IncPinned(plain bool) {
	_ = plain
	atomic.AddUint64(&c.n, 1)
}

// Load reads the count atomically.
func (c *Count) Load() uint64 { return atomic.LoadUint64(&c.n) }
