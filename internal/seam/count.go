//go:build !poolswapsched

package seam

import "sync/atomic"

// Count is a monotone counter. It must be 8-byte aligned on 32-bit platforms.
type Count struct{ n uint64 }

// IncPinned adds one, on a goroutine that is pinned. plain says that the Count
// belongs to the processor that it is pinned to, where a plain increment would
// do: the assembly of the read path uses one. Go code adds atomically either
// way, so that none of its accesses is a data race; the two may meet on one
// Count, since both hold its processor while they add.
func (c *Count) IncPinned(plain bool) {
	_ = plain
	atomic.AddUint64(&c.n, 1)
}

// Load reads the count atomically.
func (c *Count) Load() uint64 { return atomic.LoadUint64(&c.n) }
