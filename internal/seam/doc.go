// Package seam is the memory and the processor as the protocol sees them.
//
// Every word that goroutines share in the protocol (state words, counters,
// current pointers, the free lists), every fence and the choice of the
// counter stripe goes through the types and functions of this package. In
// production they are aliases of sync/atomic and sync, or functions of a few
// instructions that inline, and the machine code shows nothing of them. Under
// the build tag poolswapsched a test stands behind them instead: it sees every
// step before it is taken, decides which goroutine goes on, on which processor
// it counts, and when a plain store becomes visible.
//
// Nothing here knows what the words mean. The package imports the standard
// library only.
package seam
