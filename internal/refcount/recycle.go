package refcount

import (
	"fmt"
	"runtime/debug"

	"github.com/poolswap/poolswap/internal/seam"
)

// This file is what becomes of a free object: reset it, keep it or drop it. A
// writer does this itself. A reader pushes the object onto the dirty list and
// the sweeper does it: a goroutine that runs only while dirty objects exist.
//
// The functions of the user, Reset and Discard, run with no lock held, so they
// may call anything of the library. They may also panic or call Goexit. Then
// deferred functions here settle the stats and the state before the panic goes
// on, so that the loss is the one object that the function was called for.

// recycle resets a free object that the caller owns, and keeps or drops it.
// Ownership passes to this call, and from it to the list that keeps the object.
func (p *Pool) recycle(obj *Object) {
	if p.tryReset(obj) {
		p.keep(obj)
	}
}

// tryReset resets a free object that the caller owns and reports whether it
// may be used again. If not it is gone: discarded, or lost to a panic. The
// phase says free already, so a Release or Update of the object while its reset
// runs is refused.
func (p *Pool) tryReset(obj *Object) bool {
	if p.Reset == nil {
		return true
	}
	clean := p.runReset(obj)
	if !clean {
		p.drop(obj)
	}
	return clean
}

// runReset returns what reset returns. If reset does not return, the object is
// lost and the panic or Goexit goes on.
func (p *Pool) runReset(obj *Object) (clean bool) {
	counters := obj.counters.Load()
	returned := false
	p.stats.resetting.Add(1)
	defer func() {
		p.stats.resetting.Add(-1)
		if !returned {
			// (L3) Its reset did not return. A store will do: the object
			// belongs to this goroutine alone, and is in no list.
			counters.State.Store(withPhase(counters.State.Load(), lost)) // (L3)
			p.stats.lost.Add(1)
			p.removeLive()
		}
	}()
	clean = p.Reset(obj)

	// A reset that assigns to the whole object overwrites the Ref with zeros.
	// With new counters the pool would not see late readers that still count
	// on the old ones. So the fields are restored and the object is lost.
	if obj.counters.Load() != counters {
		p.restore(obj, counters)
		panic(fmt.Sprintf("poolswap: reset of a %s overwrote its Ref (by *t = T{…}? assign to the other fields)", p.TypeName))
	}
	returned = true
	return clean
}

// keep puts a clean object where Get finds it, or drops it.
func (p *Pool) keep(obj *Object) {
	// (K1) Among the spares, under the mutex of the free list, if there is
	// room. Ownership passes to the caller that pops it, (G1).
	kept, surplus := p.free.pushClean(obj) // (K1)
	switch {
	case kept:
		p.back.wake()

	// (K2) In the overflow, a sync.Pool, which passes it to at most one Get or
	// leaves it to the collector; then the cleanup settles the stats. The mark
	// goes before: after the Put it may be that of the next way out. Objects
	// that the user wants discarded, or that count towards a limit, do not go
	// there: they must not vanish without Discard, or stay where Get cannot
	// find them. Nor do those of a closed pool, which has no Get any more. One
	// that Close overtakes between the look and the Put is the collector's.
	case p.Discard == nil && p.MaxLive == 0 && p.Spares > 0 && !p.free.isClosed():
		counters := obj.counters.Load()
		arrives(counters, counters.Publication.Leaving.Load())
		p.overflow.Put(obj) // (K2)
		p.back.wake()
	default:
		p.drop(obj)
	}
	if surplus {
		p.dropSpares(true)
	}
}

// drop lets a free object leave the pool. It counts as live, with what it
// owns, until discard has returned or panicked.
func (p *Pool) drop(obj *Object) {
	// (K3) Dropped. A store will do: no other goroutine writes the state of a
	// free object that is in no list. It comes before Discard, which may pass
	// the object on to a caller that brings it back, (N3). Late readers may
	// still count on it and undo; the counters stay.
	counters := obj.counters.Load()
	mark := counters.Publication.Leaving.Load()
	counters.Publication.Version.Store(0)                             // (K3)
	counters.State.Store(withPhase(counters.State.Load(), discarded)) // (K3)
	p.stats.resetting.Add(1)
	defer func() {
		p.stats.resetting.Add(-1)
		p.stats.discarded.Add(1)
		arrives(counters, mark)
		p.removeLive()
	}()
	if p.Discard != nil {
		p.Discard(obj)
	}
}

// Trim drops every clean object. Others may push and pop meanwhile; it ends
// when it finds both places empty once.
func (p *Pool) Trim() {
	p.dropSpares(false)
	for obj, _ := p.overflow.Get().(*Object); obj != nil; obj, _ = p.overflow.Get().(*Object) {
		p.drop(obj)
	}
}

// dropSpares drops every clean object, or only those that are more than may be
// kept.
func (p *Pool) dropSpares(onlySurplus bool) {
	for obj := p.popClean(onlySurplus); obj != nil; obj = p.popClean(onlySurplus) {
		p.drop(obj)
	}
}

// popClean returns a clean object, for the caller to drop, or nil.
func (p *Pool) popClean(onlySurplus bool) *Object {
	p.free.mu.Lock()
	defer p.free.mu.Unlock()
	if onlySurplus && len(p.free.clean) <= p.free.limit.now {
		return nil
	}
	obj := p.free.takeClean()
	if obj != nil {
		p.takenOut(obj.counters.Load())
	}
	return obj
}

// enqueueReset takes a free object from a reader, which must not run reset,
// and makes sure that a sweeper comes.
func (p *Pool) enqueueReset(obj *Object) {
	p.free.pushDirty(obj)

	// (P2) Start a sweeper. The push is before it. If the flag was down, this
	// reader raises it and starts the one sweeper. It needs no closure, since
	// sweepFunc exists already; the runtime allocates a goroutine if it has
	// none to reuse.
	if p.sweeping.CompareAndSwap(false, true) { // (P2)
		seam.Go(p.sweepFunc)
	}
}

// sweep resets dirty objects and ends when none is left. If a hook panics or
// calls Goexit, the flag stays up and another sweeper carries on with the
// other objects: the loss is one object.
func (p *Pool) sweep() {
	ended := false
	defer func() {
		if ended {
			return
		}
		// A hook panicked or called Goexit. Without Reports the panic is not
		// recovered and ends the process with the stack of the hook, like any
		// other; a Goexit leaves nothing to recover.
		if p.Reports != nil {
			if value := recover(); value != nil {
				seam.Go(p.sweepFunc)
				p.Reports.HookPanic(value, debug.Stack())
				return
			}
		}
		seam.Go(p.sweepFunc)
	}()
	for {
		for obj := p.free.popDirty(); obj != nil; obj = p.free.popDirty() {
			p.recycle(obj)
		}

		// (P4) Lower the flag, and look at the list once more. A reader pushes
		// and then tries the flag. In the one order of these atomics: if it
		// tries after the flag was lowered, it or another reader raises it,
		// and a sweeper looks after the push. If it tries before, its push is
		// before this last look, which sees the object, or finds that another
		// popper took it. So no object waits without a sweeper to come. If
		// this sweeper cannot raise the flag again, another reader has, and
		// its sweeper takes over.
		p.sweeping.Store(false)                                                    // (P4)
		if p.free.dirty.Load() == nil || !p.sweeping.CompareAndSwap(false, true) { // (P4)
			ended = true
			return
		}
	}
}
