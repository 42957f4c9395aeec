//go:build poolswapsched

package jitter

// identity tells goroutines apart: the address of the runtime's descriptor,
// which stays where it is. A goroutine that began after another ended may have
// the same one; then it began on the processor on which the other was last.
type identity uintptr

// whoami returns the identity of the caller.
func whoami() identity
