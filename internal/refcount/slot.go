package refcount

import (
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
)

// Slot is the part of a container that readers read and writers change. It has
// two parts, on cache lines of their own.
type Slot struct {
	current seam.Pointer[Object] // nil while the container is empty; written by (U2) under mu
	pool    *Pool                // nil only in a zero container; constant
	offset  uintptr              // of the Object in the user's object; constant

	self *Slot // tells a copied container from the original; constant

	// useAsm is self where reads go through the assembly, else nil. Written under
	// the mutex of the pool's tracer.
	useAsm seam.Pointer[Slot]

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
	s.closing = seam.NewSignal()
	pool.tracer.mu.Lock()
	defer pool.tracer.mu.Unlock()
	if !pool.tracer.slow {
		s.resumeAssembly()
	}
	return pool.slots.add(s)
}

// Offset returns where in the user's object the Object lies.
func (s *Slot) Offset() uintptr { return s.offset }

// Current is the word that says which object is current.
type Current = seam.Pointer[Object]

// Current returns the slot's word, for a Reader that compares it with the
// object that it holds.
func (s *Slot) Current() *Current { return &s.current }

// Closed is where a closed Reader looks: it is never empty, and its object
// is never held, so Load always leaves its fast path.
var Closed = func() *Slot {
	s := new(Slot)
	s.current.Store(new(Object)) // at start-up: nothing is shared yet
	return s
}()

// slots knows the containers of a pool, weakly: it keeps none alive.
type slots struct {
	mu     sync.Mutex
	closed bool
	last   uint64 // id that was given last
	known  map[weak.Pointer[Slot]]bool
}

// add enters s and gives it an id, or returns false if the pool is closed.
func (l *slots) add(s *Slot) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	if l.known == nil {
		l.known = make(map[weak.Pointer[Slot]]bool)
	}
	l.last++
	s.id = l.last
	key := weak.Make(s)
	l.known[key] = true
	seam.AddCleanup(s, slotCleanup.run, slotCleanup{weak.Make(s.pool), key})
	return true
}

// close refuses more containers.
func (l *slots) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// all returns the containers that exist, in the order in which they were made.
// The caller uses them without the mutex.
func (l *slots) all() (found []*Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.known {
		if s := key.Value(); s != nil {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b *Slot) int { return int(a.id) - int(b.id) })
	return found
}

// slotCleanup runs when the garbage collector has taken a container.
type slotCleanup struct {
	pool weak.Pointer[Pool]
	key  weak.Pointer[Slot]
}

func (c slotCleanup) run() {
	if p := c.pool.Value(); p != nil {
		p.slots.mu.Lock()
		defer p.slots.mu.Unlock()
		delete(p.slots.known, c.key)
	}
}
