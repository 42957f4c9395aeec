package refcount

import (
	"context"
	"slices"
	"sync"
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
)

// This file ends containers and pools.

// Close empties the slot for good, and waits until what it published is back. It
// also returns the over-release of what was current, if it finds one that it
// cannot report.
func (s *Slot) Close(ctx context.Context) (excess, err error) {
	const op = "Close"
	checkContext(ctx, op)
	s.Check(op)
	excess = s.shut()
	waited := func(e *entry) bool {
		return e.mark != 0 && e.phase != lost && e.counters.Publication.Container.Load() == s.id
	}
	// A publisher that is in fill still ends, unpublished, and holds what was
	// current until then.
	if _, err := s.turn.Take(ctx, nil); err != nil {
		held := s.pool.held(op, err, waited)
		held.Filling = true
		return excess, held
	}
	s.turn.Pass()
	return excess, s.pool.await(ctx, op, nil, waited)
}

// shut closes the slot. It returns an error if what was current turns out to be
// released too often.
func (s *Slot) shut() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	// (D3) Close, under the mutex and together with the last swap. A publication
	// that comes first is swapped out here; one that comes later is refused at
	// (V3). The signal ends publishers that wait for their turn or an object,
	// and one that comes later finds it fired.
	s.closed = true // (D3)
	old := s.swap(nil, 0)
	s.mu.Unlock()
	s.closing.Fire()
	s.wake()
	if old == nil {
		return nil
	}
	return s.pool.settle(old, s.retire(old, "Close"))
}

// Close closes every container of the pool, waits until all objects are back,
// and discards them. It returns over-releases like Slot.Close.
func (p *Pool) Close(ctx context.Context) (excesses []error, err error) {
	const op = "Close"
	checkContext(ctx, op)
	p.Check(op)

	// (D4) Close, under the mutex of the free list. From here on no Get returns
	// an object, no factory is called, and what comes back is discarded. One
	// that came first has made its object private under the same mutex, or is
	// counted as creating one, so it is found below.
	p.free.mu.Lock()
	p.free.closed = true // (D4)
	p.free.mu.Unlock()

	p.slots.close()
	for _, s := range p.slots.all() {
		if excess := s.shut(); excess != nil {
			excesses = append(excesses, excess)
		}
	}

	// Clean objects go first: a pop by another Trim or Close has marked its
	// object by the time that this one finds the list empty, so what is in
	// Discard there is waited for here.
	p.Trim()

	// An object that is live and not marked was current in a container that the
	// program dropped: it is the collector's. So is a clean one that is not
	// among the spares.
	return excesses, p.await(ctx, op, p.free.isCreating, func(e *entry) bool {
		return e.phase == private || e.phase != lost && e.mark != 0
	})
}

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
	seam.AddCleanup(s, forgotten.run, forgotten{weak.Make(s.pool), key})
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

// forgotten is what is left of a container that the garbage collector took.
type forgotten struct {
	pool weak.Pointer[Pool]
	key  weak.Pointer[Slot]
}

func (f forgotten) run() {
	if p := f.pool.Value(); p != nil {
		p.slots.mu.Lock()
		defer p.slots.mu.Unlock()
		delete(p.slots.known, f.key)
	}
}
