// Package poolswap replaces a heavy object while many goroutines read it.
//
// A service reads one large object all the time, such as a routing table, a geo
// database, a deny list or a configuration, and replaces it now and then.
// With this package readers never wait, the old object is not used again
// before its last reader has let go, and a replacement makes no garbage: the
// writer fills the memory that an earlier object left behind.
//
//	type Table struct {
//		poolswap.Ref // by value, by convention first
//		rows []row
//	}
//
//	pool := poolswap.NewPool(
//		func() *Table { return new(Table) },
//		func(t *Table) bool { t.rows = t.rows[:0]; return true })
//	tables := poolswap.NewContainer(pool, &Table{rows: initial})
//
//	// Any number of readers, at any time:
//	t := tables.Acquire()
//	defer tables.Release(t)
//	use(t.rows)
//
//	// A writer, now and then:
//	next := tables.GetNew()
//	next.rows = load(next.rows)
//	tables.Update(next) // the old table returns to the pool after its last reader
//
// # When to use it
//
// Use it for one object, or a few, that are read far more often than they are
// replaced and whose memory is worth keeping: slices of fixed records, offsets
// into one slab of bytes, a mapped file. Where the object is small, or replaced
// so seldom that its garbage does not matter, a [sync/atomic.Pointer] is simpler
// and reads faster. A map of strings gains little: its strings are allocated
// anew at every load, whatever becomes of the map. For many small objects that
// live for one call, use package typedpool or a [sync.Pool].
//
// An atomic.Pointer together with a sync.Pool is not a substitute: after the
// swap nobody knows when the last reader is done, so putting the old object
// into the pool hands memory that is being read to the next writer.
//
// # Ownership
//
// An object belongs to one party at a time, and only its owner writes to it:
//
//  1. [Pool.Get] and [Container.GetNew] give an object to the caller, alone.
//  2. [Container.Update] takes it. From here on nobody writes to it: it is
//     current, and shared. The same holds for an object that did not come from
//     the pool, such as a composite literal; from its first Update on it is the
//     pool's.
//  3. [Container.Acquire] lends the current object for reading. Each Acquire
//     needs one Release, on any goroutine, and after it the reader has no
//     pointer into the object: not to it, nor to a slice, string or map that
//     lives in it.
//  4. An object that is not to be published after all goes back by
//     [Pool.Release] or [Container.Release].
//  5. All else is the pool's doing. When an object has been replaced and its
//     last reader has let go, reset empties it, and a later Get returns it.
//
// Breaking a rule panics where it can be known, with a text that names the
// operation, the type, the counts and the likely cause. What cannot be known is
// listed in docs/limitations.md; go vet sees copies of what must not be copied.
//
// # Which read to choose
//
//   - [Container.Acquire] and [Container.Release]: for a request, with defer.
//     The reference can pass to another goroutine.
//   - [Container.WithAcquire]: the same around a function, for when a Release
//     must not be forgotten.
//   - [Container.NewReader] and [Reader.Load]: for a goroutine that reads in a
//     loop. One load and a compare while nothing was replaced; it keeps the
//     object until its next Load, so an idle Reader should be parked.
//
// # Promises
//
// Acquire and Load are lock-free: they go round again only because an Update
// took effect in between. Release is wait-free, but for the one Release that ends
// a replaced object, which is lock-free. Update never waits for readers.
//
// No read allocates, and no read runs the pool's functions. While nothing is
// replaced, no read writes a cache line that another processor writes, so that
// reads are as fast on many processors as on one.
//
// Objects are returned exactly once, and promptly: by the writer that replaced
// them, or by the last reader. What exists is the current object of each
// container, the spares ([Options.Spares], which survive garbage collections),
// what readers and writers really hold, and, until the next collections, free
// ones beyond the spares.
//
// An Update synchronizes before every Acquire and Load that returns its object;
// a Release synchronizes before the reset of the object and the Get that
// returns it next.
//
// # Two ways to count
//
// How many readers hold an object is counted without a word that two
// processors write. On linux/amd64 a read counts with plain instructions and
// the writer pays, with one membarrier system call for each replaced object:
// the asymmetric way. Everywhere else, under the race detector, in a build with
// the tag purego, with [Options.Portable], and where the kernel refuses
// membarrier, a read counts with atomic instructions: the portable way. They
// differ in speed alone. [Stats.Counting] tells which one runs.
//
// Each object has counters of its own beside it: 256 bytes, and 128 more for
// each processor (512 with purego).
//
// # When something is wrong
//
// [Pool.Stats] shows where all objects are. Retired that grows means that
// readers hold old objects too long, or forget them; Leaked counts forgotten
// Releases that the garbage collector has found. [Options.Report] is told of
// them, and of panics in reset. [Pool.Refs] gives the references to one object,
// for tests.
package poolswap
