//go:build poolswapsched

// Package jitter widens the windows of the protocol for real goroutines. It is
// a Machine behind the seam with processors of its own: Pin takes one of them
// for the caller alone, and as nothing of the runtime is pinned, a goroutine
// may stop anywhere, for long, and the others pass it. Plain increments wait in
// the store buffer of their processor until they must be visible, as on
// x86-TSO, or happen to be let out.
//
// It is the coarse companion of package sched: nothing is explored and nothing
// can be repeated, but the goroutines are as many as the test starts and run
// for as long as it likes.
package jitter
