//go:build poolswapsched

package jitter

// identity is the address of the runtime's descriptor of a goroutine, which does
// not move. A goroutine that reuses the descriptor of an ended one starts on the
// last processor of that one.
type identity uintptr

// whoami returns the identity of the caller.
func whoami() identity
