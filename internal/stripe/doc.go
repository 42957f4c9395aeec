// Package stripe is the only place of the library that counts.
//
// Counters counts the references to one object without a word that two
// processors write: each P has a stripe of two monotone counters, acquired and
// released, that are never reset. A reference counted on one stripe may be
// given back on another, so only sums over all stripes mean anything, and
// their order matters: see Released.
//
// There are two ways to count. The asymmetric way makes the frequent side
// cheap and the rare side dear: a plain increment by a goroutine pinned to its
// P, against a membarrier in HeavyFence. The portable way uses an atomic
// increment and needs no heavy fence. The way belongs to each Counters, not to
// the process: see Way.
package stripe
