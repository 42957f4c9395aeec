package poolswap

// DefaultSpares is how many free objects a [Pool] keeps across garbage
// collections unless its [Options] say otherwise: one for the next update, and
// one more for the update after it while a reader still holds the old object.
const DefaultSpares = 2

// NoSpares as Options.Spares keeps no free object and uses none again: each is
// reset and discarded as soon as its last reader lets go.
const NoSpares = -1

// Options are what [NewPoolWithOptions] can be told. The zero Options are
// those of [NewPool].
type Options[T any] struct {
	// Spares is how many clean objects the pool keeps for as long as it
	// lives, garbage collections or not: 0 stands for DefaultSpares, NoSpares
	// for none. Each costs the memory of one filled and reset object: a pool
	// for a table of 200 MiB holds up to 400 MiB beside the current table.
	// Free objects beyond the spares go to a sync.Pool, which the next two
	// collections empty, or, with NoSpares, Discard or MaxLive, are discarded
	// at once.
	Spares int

	// Discard, if not nil, is called once for each object that leaves the
	// pool for good: refused by reset, beyond the spares, or trimmed. It is
	// the place to close a file or unmap memory. It runs on the goroutine of
	// a writer or of the sweeper, never on a reader and with no lock held; it
	// may see an object that was reset or one that was not. It is not called
	// for an object that is lost (see Stats.Lost) or that the garbage
	// collector took (see Stats.Collected).
	Discard func(*T)

	// MaxLive, if not 0, bounds how many objects exist: where that many do
	// and none is free, TryGet returns ErrLimit and Get panics. Objects that
	// did not come from the pool count from their first Update on, but are
	// never refused. Lost ones do not count any more (see Stats.Lost).
	MaxLive int

	// Portable makes the pool count with atomic instructions even where it
	// could count with plain ones, for those who want nothing but what the Go
	// memory model promises. Stats.Counting tells which way runs.
	Portable bool

	// Report, if not nil, is told of what no caller can be told of: a *Leak,
	// a *HookPanic, that membarrier failed, or that an object was released too
	// often before it was dropped. It is called with no lock held,
	// by a writer, the sweeper, or a cleanup of the runtime, never by a
	// reader; it must be safe for concurrent use and must not block for long.
	//
	// Without a Report, a panic of reset or Discard on the sweeper ends the
	// process, like any panic that nobody recovers; with one, it is recovered
	// and told. On the goroutine of a caller it is never recovered.
	Report func(error)
}
