//go:build poolswapsched

// Package sched runs the real code of the protocol under its own scheduler. It
// is a Machine behind the seam: goroutines become coroutines that stop before
// every step on shared memory, and plain stores wait in the store buffer of
// their processor until they are flushed (first in, first out, as on x86-TSO).
// The scheduler chooses which step comes next.
//
// Explore makes every choice, depth first, and visits no state twice. Coroutines
// cannot be copied, so each run begins at the start. The file state.go defines a
// state; footprint.go defines which transitions commute, so that one order of
// them is enough.
//
// A state is stored as a 64-bit hash. A collision would hide the successors of
// the second state. Among n states its probability is about n*n/2^65: 1 in
// 90,000 at 20 million states, 1 in 1,400 at 160 million.
//
// Sample makes random choices, with priorities that change a few times in each
// run (PCT: Burckhardt and others, "A randomized scheduler with probabilistic
// guarantees of finding bugs", ASPLOS 2010). Both stop at the first failure
// and return the steps that led to it.
package sched
