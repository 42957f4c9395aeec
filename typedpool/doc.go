// Package typedpool is [sync.Pool] with types: a [Pool] hands out *T in place of
// any, can reset objects in Put, and can drop objects that have grown too large.
// [Buffers] and [Slices] are ready-made pools of byte buffers and slices. The
// package imports only the standard library.
//
// # When to use it
//
// Use a typedpool for temporary objects that many goroutines make, use and give
// back within one call, such as the buffer of a log line. It saves allocation, and
// with it garbage collection; measure that they matter before you add a pool.
//
// Use a Pool of the package poolswap for an object that many goroutines read while
// a writer replaces it now and then. A typedpool does not know when the last
// reader is done, and loses objects that are unused for two garbage collections.
//
// Use neither for objects that are small, live long, escape to unknown callers, or
// must be closed. For a fixed number of scarce resources use a buffered channel,
// which waits.
//
// # How a sync.Pool works
//
// A P is the right to run Go code; there are GOMAXPROCS of them. A sync.Pool has a
// slot for one object and a queue for more on each P. Put and Get pin the
// goroutine to its P, so the slot needs no lock and no atomic instruction. If the
// slot is taken, Put pushes the object onto the head of the queue: a chain of
// rings that hold 8, 16, 32 objects and so on. Only the owning P uses the head;
// other Ps steal from the tail without a lock.
//
// Get tries its own slot, the head of its own queue, the tails of the other
// queues, and then the victim cache. It does not try the slots of other Ps, so it
// may make an object while another is idle.
//
// Each garbage collection starts, with the world stopped, by dropping the victim
// cache and moving all other objects into it. So only an object that is unused
// for two collections is lost. Before Go 1.13 there was no victim cache: each
// collection emptied all pools, which caused latency spikes.
//
// Under the race detector Put drops one object in four at random, so that code
// that relies on getting an object back fails in its tests. Expect allocations
// under -race that an ordinary build does not have.
//
// # The debug build
//
// Two mistakes with a pool corrupt memory silently: using an object after Put,
// and putting it twice. Under the build tag poolswapdebug, at a cost in time and
// memory that suits tests only:
//
//   - Put scribbles over the object, and Get restores it. An object made of
//     numbers is filled with the byte 0xdb, one with pointers or bools becomes its
//     zero value. The spare capacity of a bytes.Buffer and the arrays of Slices
//     are scribbled over too, but not restored, because their contents are not
//     part of the contract. Put leaves alone memory that an object points to, and
//     objects that hold a lock or an atomic, which go vet forbids to copy.
//   - Get panics if the scribble has changed, and names the Put.
//   - A second Put of the same object, into any pool, panics and names both calls.
//     It does not panic after a Get has handed out the object again, because then
//     it looks like the new owner's Put.
//
// The debug build works with the race detector and keeps no object alive.
package typedpool
