package refcount

import (
	"sync"
	"time"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// Config is what a Pool is made with. None of it changes later. The functions
// run with no lock held and never on a reader.
type Config struct {
	TypeName string // of the user's object, for messages
	Factory  func() *Object
	Reset    func(*Object) bool // nil: objects need no reset
	Discard  func(*Object)      // nil: the garbage collector does all there is to do
	Reports  *Reports           // nil: what could be reported panics or is dropped

	Spares    int  // how many clean objects the free list keeps
	MaxSpares int  // how many it keeps at most, while so many are filled at a time; at least Spares
	MaxLive   int  // how many objects may exist; 0: no limit
	Portable  bool // count atomically even where plain increments are possible
}

// Reports receive errors that have no caller to return to. A writer or a
// goroutine of the pool calls them, never a reader or a cleanup of the runtime.
type Reports struct {
	Leak        func(held int)                // an object was collected while held
	HookPanic   func(value any, stack []byte) // reset or discard panicked on the sweeper
	OverRelease func(Excess)                  // an object was released too often
	FenceFailed func(error)                   // membarrier failed; an object was given up
}

// Pool holds the free objects of one type, and makes, resets and discards
// them. It is part of the user's pool, whose address is its own.
type Pool struct {
	Config

	registry registry
	slots    slots
	free     freeList
	overflow sync.Pool // of *Object: clean ones beyond the spares, until the next collections

	versions seam.Sequence // numbers publications
	leavings seam.Sequence // numbers objects that leave a container or their owner
	back     wakeup        // an object came back, was discarded or was lost; what waits for objects looks again
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
	if !config.Portable {
		stripe.Asymmetric() // ask the kernel here rather than in the first Get
	}
}

// Check panics for a Pool that Init did not make, such as a copy.
func (p *Pool) Check(op string) {
	if p.self != p {
		panicNotMade(op, "Pool", "NewPool", p.self != nil)
	}
}

// Slot is the part of a container that readers read and writers change. It has
// two parts, on cache lines of their own.
type Slot struct {
	current seam.Pointer[Object] // nil while the container is empty; written by (U2) under mu
	pool    *Pool                // nil only in a zero container; constant
	offset  uintptr              // of the Object in the user's object; constant

	self   *Slot // tells a copied container from the original; constant
	useAsm *Slot // self where reads go through the assembly, else nil; constant

	_ [128 - 5*unsafe.Sizeof(uintptr(0))]byte

	// version is that of the current object, a moment late, or 0 while there
	// is none; written by (V5) under mu.
	version seam.Uint64

	turn    seam.Turn    // of publishers: held from before fill until the publication is over
	closing *seam.Signal // fires when the slot closes; constant
	changed wakeup       // for Changed: a version was published, or the slot closed
	waited  wakeup       // for Wait: the same; apart, since a Wait that ends wakes the others
	id      uint64       // in the pool, from 1; constant

	mu     seam.Mutex // held for a publication, never while a function of the user runs
	closed bool       // no object becomes current any more; guarded by mu
	swaps  uint64     // how often current was swapped; guarded by mu
}

// Init makes s an empty slot of objects of pool. It returns false if the pool is
// closed.
func (s *Slot) Init(pool *Pool, offset uintptr) bool {
	s.pool, s.offset, s.self = pool, offset, s
	if useAsm {
		s.useAsm = s
	}
	s.closing = seam.NewSignal()
	return pool.slots.add(s)
}

// Check panics for a container that no constructor made, such as a copy.
func (s *Slot) Check(op string) {
	if s.self != s {
		panicNotMade(op, "Container", "NewContainer or NewEmptyContainer", s.self != nil)
	}
}

// Offset returns where in the user's object the Object lies.
func (s *Slot) Offset() uintptr { return s.offset }

// Current is the word that says which object is current.
type Current = seam.Pointer[Object]

// Current returns the slot's word, for a Reader that compares it with the
// object that it holds.
func (s *Slot) Current() *Current { return &s.current }

// Closed is where a closed Reader looks: it is never empty, and what is in it
// is never held, so Load always leaves its fast path.
var Closed = func() *Slot {
	s := new(Slot)
	s.current.Store(new(Object)) // at start-up: nothing is shared yet
	return s
}()
