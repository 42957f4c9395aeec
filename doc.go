// Package poolswap replaces a heavy object while many goroutines read it.
//
// A service reads one large object all the time, such as a routing table, a geo
// database, a deny list or a configuration, and replaces it now and then. With
// this package readers never wait, the old object is not used again before its
// last reader has released it, and a replacement makes no garbage: the writer
// fills the memory of an earlier object.
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
//	// A writer, now and then; writers take turns:
//	version, err := tables.Publish(ctx, func(next, current *Table) (err error) {
//		next.rows, err = load(next.rows)
//		return err // unless it is nil, next goes back and current stays
//	}) // the old table returns to the pool after its last reader
//
// NewContainer infers the type parameters. A declaration names both:
//
//	type Server struct {
//		tables *poolswap.Container[Table, *Table]
//	}
//
// # When to use it
//
// Use it for one object, or a few, that are read far more often than they are
// replaced and whose memory is worth keeping: slices of fixed records, offsets
// into one slab of bytes, a mapped file. If the object is small, or replaced so
// seldom that its garbage does not matter, a [sync/atomic.Pointer] is simpler
// and reads faster. A map of strings gains little: every load allocates its
// strings anew, with or without a pool. For many small objects that live for
// one call, use package typedpool or a [sync.Pool].
//
// An atomic.Pointer together with a sync.Pool is not a substitute. After the
// swap the writer does not know when the last reader is done, so putting the
// old object into the pool hands memory that is being read to the next writer.
//
// # Ownership
//
// An object has one owner at a time, and only its owner writes to it:
//
//  1. [Container.Publish] gives next to fill, which owns it until it returns,
//     and lends it current for reading. [Pool.Get] gives an object to the caller
//     alone.
//  2. A published object is current and shared, and no goroutine writes to it.
//     [Container.Update] takes its object from the moment it is called. An
//     object that did not come from the pool, such as a composite literal,
//     becomes the pool's with its first Update.
//  3. [Container.Acquire] lends the current object for reading, and
//     [Container.Retain] lends one that is held once more. Each needs one
//     Release, on any goroutine. After it the reader keeps no pointer into the
//     object: not to it, nor to a slice, string or map that lives in it.
//  4. [Container.Release] takes back an object from Get that the caller does not
//     publish. Publish gives back next itself.
//  5. The pool owns the rest. When an object has been replaced and its last
//     reader has released it, reset empties it, and a later writer gets it.
//
// An operation panics if it can see that a rule was broken; the text names the
// operation, the type, the object, its counts and the likely cause.
// docs/limitations.md lists the misuse that no operation sees. go vet reports
// copies of types that must not be copied.
//
// A resource that is opened rather than filled fits too: the factory makes an
// empty wrapper, the writer opens into it, reset closes it. docs/patterns.md
// shows this and more, the wrong way beside the right one.
//
// # Which write to choose
//
//   - [Container.Publish]: nearly always. It gives next back if it does not
//     publish it, also if fill panics; it loses no other publisher's work; it can
//     wait for an object under [Options.MaxLive]; and it returns the version.
//   - [Pool.Get] and [Container.Update]: for one writer whose object is not
//     filled within one function, and for objects that did not come from the
//     pool. Update takes no turn and replaces any object. Update(nil) empties
//     the container.
//
// [Container.GetNew], [NewEmptyContainer] and [Pool.Release] are of the interface
// that was published first; code written for it needs another import path alone.
//
// # Versions, waiting, and the end
//
// Each publication has a number: [Container.Version] returns the number of the
// current object, [Container.VersionOf] the number of an object that the caller
// holds. Use it as the key of a cache; the address of an object is used again.
// [Container.Wait] and [Container.Versions] wait for the next publication.
//
// [Pool.Drain] waits until the replaced objects are back. [Container.Close] and
// [Pool.Close] end a container or a whole pool, and wait as well. If their context
// ends first, a [HeldError] names the versions that are still held. A call of
// Publish, Drain or Close that waits for an object of its own goroutine waits
// until its context ends; docs/patterns.md lists the cases.
//
// # Which read to choose
//
//   - [Container.Acquire] and [Container.Release]: for a request, with defer.
//     The reference can pass to another goroutine.
//   - [Container.WithAcquire]: the same around a function, so that Release
//     cannot be forgotten.
//   - [Container.NewReader] and [Reader.Load]: for a goroutine that reads in a
//     loop. Load is one load and a compare while nothing is replaced. It keeps
//     the object until the next Load, so park an idle Reader.
//
// # Promises
//
// Acquire and Load are lock-free: they repeat only because a publication took
// effect in between. Release is wait-free, except for the Release that drains a
// replaced object, which is lock-free. Update never waits for readers; Publish
// does only under [Options.MaxLive].
//
// No read runs the pool's functions. A read allocates nothing itself, but one
// that drains a replaced object may start the pool's background goroutine, for
// which the runtime can allocate. While nothing is replaced, no read writes a
// cache line that another processor writes, so reads are as fast on many
// processors as on one. Two cases are slower but correct: with the build tag
// purego two goroutines can share a line, and processors that GOMAXPROCS added
// after an object was made share one.
//
// An object returns to the pool exactly once, and promptly: the writer that
// replaced it returns it, or its last reader. The objects that exist are the
// current one of each container, the spares ([Options.Spares], which survive
// garbage collections), those that readers and writers hold, and, until the next
// collections, free objects beyond the spares.
//
// A publication synchronizes before every Acquire and Load that returns its
// object, and before every call that returns its version.
// A Release synchronizes before the reset of the object and the Get that
// returns it next.
//
// # Counting modes
//
// The pool counts the readers of an object, each processor in memory of its own.
// In the asymmetric mode, on linux/amd64, a read counts with plain
// increments, in assembly, and the writer pays with one membarrier system call
// for each replaced object. In the portable mode a read counts with atomic
// instructions: on other platforms, under the race detector, with the build tag
// purego, with [Options.Portable], and where the kernel refuses membarrier. The
// modes differ in speed alone. Stats.Reads has the mode, and whether reads run
// the assembly or Go methods, and why.
//
// Each object has counters outside it: 256 bytes, and 128 more for each
// processor (512 with purego).
//
// # When something is wrong
//
// [Pool.Stats] shows where all objects are. If Retired or OldestRetired grows,
// readers hold old objects too long, or a Release is forgotten. Held counts the
// references to current objects as well. Leaked counts forgotten Releases that
// the garbage collector found, after the object was replaced.
// [Options.Report] receives leaks, over-releases and panics of reset.
// [Pool.Refs] returns the references to one object, for tests.
package poolswap
