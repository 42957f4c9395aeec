//go:build poolswapsched

// Package sched runs the real code of the protocol under a scheduler of its
// own. It is a Machine behind the seam: goroutines become coroutines that stop
// before every step on shared memory, plain stores wait in the store buffer of
// their processor until they are let out (first in first out, as on x86-TSO),
// and which step comes next is a choice.
//
// Explore makes every choice, depth first, and goes on from no state twice.
// Coroutines cannot be copied, so it runs from the start each time. What a
// state is, is the file state.go's to say; which transitions may be left out
// because another order of the same ones is taken, that of footprint.go.
//
// A state is known by 64 bits, a hash, so two could be taken for one, and what
// comes of the second would not be seen. The odds that there are two such among
// n states are about n*n/2^65: 1 in 90,000 at 20 million states, 1 in 1,400 at
// 160 million.
//
// Sample makes random ones, with priorities that change a few times in each
// run (PCT: Burckhardt and others, "A randomized scheduler with probabilistic
// guarantees of finding bugs", ASPLOS 2010). Both stop at the first failure
// and return the steps that led to it.
package sched
