package poolswap

import "time"

// DefaultSpares is how many free objects a [Pool] keeps at least across garbage
// collections unless its [Options] say otherwise: one for the next update, and
// one more for the update after it while a reader still holds the old object.
// The default is more while more objects are filled at a time, see
// Options.Spares.
const DefaultSpares = 2

// NoSpares as Options.Spares disables reuse: objects are reset and discarded
// once drained.
const NoSpares = -1

// Options configure a pool, for [NewPoolWithOptions]. The zero Options are
// those of [NewPool].
type Options[T any] struct {
	// Spares is how many clean objects the pool keeps for as long as it
	// lives, garbage collections or not: 0 stands for the default, NoSpares
	// for none. Updates call no factory with one spare for each object that is
	// filled at a time, and one for each old version that readers hold at a time.
	// Each costs the memory of one filled and reset
	// object: with one writer, a pool for a table of 200 MiB holds up to 400 MiB
	// beside the current table. Free objects beyond the spares go to a sync.Pool,
	// which the next two collections empty, or, with NoSpares, Discard or
	// MaxLive, are discarded at once.
	//
	// The default follows the work. It is as many as were being filled at a time
	// lately: objects that Get, GetNew, TryGet or Publish took from the pool and
	// that were neither published nor given back yet. It is never below
	// DefaultSpares, and at most 16, or twice GOMAXPROCS at NewPool if that is
	// more. The default rises at once, and falls when 128 to 256 of those calls
	// have not reached the peak again. Spares that are too many then are
	// discarded when the next object comes back. Stats.SpareLimit shows it.
	Spares int

	// Discard, if not nil, is called once for each object that leaves the
	// pool for good: refused by reset, beyond the spares, or trimmed. It is
	// the place to close a file or unmap memory. It runs on the goroutine of
	// a writer or of the sweeper, never on a reader and with no lock held,
	// after reset if there is one: what reset closes is closed already. A
	// spare is not discarded and keeps its file open, so close it in reset, or
	// set NoSpares. Discard is not called for an object that is lost (see
	// Stats.Lost) or that the garbage collector took (see Stats.Collected): a
	// forgotten Release leaks the resources of such an object.
	Discard func(*T)

	// Poison, if not nil, is called in a build with the tag poolswapdebug alone, after
	// reset has accepted an object. It overwrites what a reader could still see that
	// kept a pointer beyond its Release, such as the elements behind the end of a slice
	// that reset has cut to length 0, so that the mistake shows where it happens. It must
	// leave the object as reset does to the next writer.
	Poison func(*T)

	// MaxLive, if not 0, bounds how many objects exist: when that many do
	// and none is free, Publish waits, TryGet returns ErrLimit and Get panics.
	// Objects that did not come from the pool count from their first Update
	// on, but are never refused. Lost ones do not count any more (see
	// Stats.Lost).
	//
	// Count one object for each container, one for each fill that is to run at a
	// time, and one for each old version that readers still hold. One container
	// with one publisher needs 2, or 3 if readers may hold one old version while
	// the next is filled. With 1, nothing can be published while an object is
	// current.
	MaxLive int

	// HeldTooLong, if not 0, is how long a replaced version may be held. A publication
	// that finds one held for longer reports it once, as a *HeldTooLongError, and
	// traces itself and some of those that follow for as long as there is one; see
	// [Pool.Trace]. So a Release that is forgotten again and again is named by
	// [Pool.Holders] after one further publication; one that was forgotten once is
	// named only if its version happens to be traced. There is no timer: a pool that
	// publishes nothing reports nothing, and Stats.OldestRetired has the age.
	HeldTooLong time.Duration

	// Portable makes the pool count with atomic instructions even where it
	// could count with plain ones, for programs that want nothing but what
	// the Go memory model promises. Stats.Reads.Counting tells the mode.
	Portable bool

	// Report, if not nil, receives errors that have no caller to return to:
	// a *LeakError, a *HookPanicError, an *OverReleaseError, a *HeldTooLongError, or that
	// membarrier failed. It is
	// called with no lock held, by a writer or a goroutine of the pool, never by
	// a reader. It must be safe for concurrent use and must not block for long.
	//
	// Without a Report, a panic of reset or Discard on the sweeper ends the
	// process, like any panic that is not recovered; with one, it is recovered
	// and reported. On the goroutine of a caller it is never recovered.
	// Without a Report, the writer or reader that finds an over-release
	// panics, except Publish and Close, which return it; with one, it goes on.
	Report func(error)
}
