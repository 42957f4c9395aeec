// Package typedpool is [sync.Pool] with types: a [Pool] hands out *T in place of
// any, can reset what is put into it, and can refuse what has grown too large.
// [Buffers] and [Slices] are ready-made pools of the two things that everybody
// pools. The package imports the standard library only and stands on its own.
//
// # When to use it
//
// Use a typedpool for temporary objects: made, used and given back within one
// call, by many goroutines, over and over, such as the buffer of a log line. What
// it saves is allocation, and with it the work of the garbage collector; measure
// that both matter before you add a pool.
//
// Use a Pool of the package poolswap for an object that many goroutines read at
// the same time while a writer replaces it now and then. A typedpool does not
// know when the last reader is done, and its objects do not survive two garbage
// collections that follow on each other without use.
//
// Use neither for objects that are small, live long, or escape to callers you do
// not know; for objects that must be closed; and for a fixed number of something
// scarce, for which a buffered channel is the pool that waits.
//
// # How a sync.Pool works
//
// For each P, the right to run Go code of which there are GOMAXPROCS, a sync.Pool
// has a slot for one object and a queue for more. A goroutine that puts or gets
// is pinned to its P meanwhile, so the slot needs neither a lock nor an atomic
// instruction. An object put while the slot is taken goes to the head of the
// queue: a chain of rings that hold 8, 16, 32 objects and so on, of which only
// the owning P touches the head, and from whose tail the other P's steal without
// a lock.
//
// Get looks into its own slot, at the head of its own queue, at the tails of the
// other queues, and then at what the last garbage collection has set aside. It
// cannot look into the slots of other P's, so it may make an object while one
// lies idle.
//
// At the start of each garbage collection, with the world stopped, the objects
// that an earlier collection has set aside are dropped, and all others are set
// aside in their turn. This victim cache exists since Go 1.13: before, each
// collection emptied all pools, and the burst of allocation after it showed as a
// latency spike. Now an object must lie unused through two collections to be
// lost.
//
// Under the race detector Put throws away one object in four, at random, so that
// code which counts on seeing an object again fails in its tests. Expect
// allocations under -race that an ordinary build does not have.
//
// # The debug build
//
// Two mistakes with a pool corrupt memory silently: using an object after Put,
// and putting it twice. Under the build tag poolswapdebug, at a cost in time and
// memory that suits tests only:
//
//   - Put scribbles over the object, and the Get that hands it out again restores
//     it. An object made of numbers is filled with the byte 0xdb, one with
//     pointers or bools becomes its zero value. The spare capacity of a
//     bytes.Buffer and the arrays of Slices are scribbled over alike, and not
//     restored: nobody may count on what is in them. Memory that an object merely
//     points to is left alone, and so is an object that go vet forbids to copy
//     because it holds a lock or an atomic.
//   - Get panics if the scribble was written to since, and names the Put.
//   - A second Put of the same object panics and names both calls. The calls
//     need not be on the same pool. Once a Get has handed the object out again,
//     a late second Put cannot be told from the rightful one.
//
// The debug build works with the race detector and keeps no object alive.
package typedpool
