package refcount

import (
	"sync"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// Config has the settings of a Pool. None of them changes later. The functions
// run with no lock held and never on a reader.
type Config struct {
	TypeName string // of the user's object, for messages
	Factory  func() *Object
	Reset    func(*Object) bool // nil: objects need no reset
	Discard  func(*Object)      // nil: the garbage collector does all there is to do
	Reports  *Reports           // nil: errors that could be reported panic or are dropped

	Spares      int           // how many clean objects the free list keeps
	MaxSpares   int           // how many it keeps at most, while so many are filled at a time; at least Spares
	MaxLive     int           // how many objects may exist; 0: no limit
	HeldTooLong time.Duration // after which a replaced version that is held is reported and traced; 0: never

	Portable bool // count atomically even where plain increments are possible
}

// Reports receive errors that have no caller to return to. A writer or a
// goroutine of the pool calls them, never a reader or a cleanup of the runtime.
type Reports struct {
	Leak        func(held int, holders []Holder) // an object was collected while held
	HookPanic   func(value any, stack []byte)    // reset or discard panicked on the sweeper
	OverRelease func(OverReleaseError)           // an object was released too often
	FenceFailed func(error)                      // membarrier failed; an object was given up
	HeldTooLong func(*HeldTooLongError)          // a replaced version is held for longer than HeldTooLong
}

// Pool holds the free objects of one type, and makes, resets and discards
// them. It is part of the user's pool, whose address is its own.
type Pool struct {
	Config

	registry registry
	slots    slots
	tracer   tracer
	free     freeList
	overflow sync.Pool // of *Object: clean ones beyond the spares, until the next collections

	versions seam.Sequence // numbers publications
	leavings seam.Sequence // numbers objects that leave a container or their owner
	returned wakeup        // an object came back, was discarded or was lost; goroutines that wait for objects look again
	begun    time.Time     // of the pool's clock; constant

	sweeping  seam.Bool // a sweeper runs, or is about to; see sweep
	sweepFunc func()    // p.sweep, made once so that starting it allocates no closure

	self  *Pool // tells a copied pool from the original
	stats stats
}

// Init makes p usable. The first call in a process asks the kernel for
// membarrier, unless every pool is Portable.
func (p *Pool) Init(config Config) {
	p.Config = config
	p.free.limit = spareLimit{now: config.Spares, least: config.Spares, most: config.MaxSpares}
	p.free.clean = make([]*Object, 0, min(config.MaxSpares, MostFollowing()))
	p.free.stats = &p.stats
	p.sweepFunc = p.sweep
	p.self = p
	p.begun = time.Now()
	p.tracer.on.Store(config.HeldTooLong > 0) // (X1)
	if !config.Portable {
		stripe.Asymmetric() // ask the kernel here rather than in the first Get
	}
}
