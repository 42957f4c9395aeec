// Package seam is the memory and the processor as the protocol sees them.
//
// The protocol uses the types and functions of this package for every word that
// goroutines share (state words, counters, current pointers, the free lists),
// for every fence and for the choice of the counter stripe. In production they
// are aliases of sync/atomic and sync, or functions of a few instructions that
// inline, and the machine code contains nothing of them. Under the build tag
// poolswapsched a test implements them, as a Machine: it sees every step in
// advance, decides which goroutine runs and on which processor it counts, and
// decides when a plain store becomes visible.
//
// The package does not know the meaning of the words. It imports the standard
// library only.
package seam
