// Package stripe is the only place of the library that counts.
//
// Counters counts the references to one object. Each P has a stripe of two
// monotone counters, acquired and released, that are never reset, so no word is
// written by two Ps but in the overflow, or with the build tag purego, where a
// hash chooses the stripe. A reference counted on one stripe may be
// given back on another, so only sums over all stripes mean anything, and
// their order matters: see Released.
//
// There are two counting modes. Asymmetric counters make the frequent side cheap
// and the rare side dear: the assembly of the read path increments them
// plainly, on a P that is its own meanwhile, and HeavyFence pays with a
// membarrier. Portable counters are incremented atomically and need no heavy
// fence. The mode belongs to each Counters, not to the process.
package stripe
