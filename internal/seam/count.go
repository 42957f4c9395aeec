//go:build !poolswapsched

package seam

import "sync/atomic"

// Count is a monotone counter. A given Count is counted in one of two ways for
// all its life: with IncPlain by the goroutine pinned to the processor that
// owns it, or with Inc by anybody. It must be 8-byte aligned on 32-bit
// platforms.
type Count struct{ n uint64 }

// IncPlain adds one with an ordinary load and store. The store may become
// visible to other processors later, but in program order: see CanCountPlain.
func (c *Count) IncPlain() { c.n++ }

// Inc adds one atomically.
func (c *Count) Inc() { atomic.AddUint64(&c.n, 1) }

// Load reads the count atomically.
func (c *Count) Load() uint64 { return atomic.LoadUint64(&c.n) }
