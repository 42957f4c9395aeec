package refcount

import (
	"fmt"
	"time"

	"github.com/poolswap/poolswap/internal/stripe"
)

// Objects return here: from their owner, or drained. An object that leaves a
// container or its owner is marked until it was reset or discarded. Drain and
// Close look at the marks of all objects that the registry knows, and again after
// each wake-up.
//
// A writer recycles the object itself. A reader pushes it onto the dirty list, and
// the sweeper recycles it.
//
// The functions of the user, Reset and Discard, run with no lock held, so they
// may call anything of the library. They may also panic or call Goexit. Then
// deferred functions here settle the stats and the state before the panic goes
// on, so that the loss is the one object that the function was called for.

// beginReplacing marks an object that is about to be swapped out. It reports
// whether the object counts as current.
func (p *Pool) beginReplacing(o *Object) bool {
	counters := o.counters.Load()
	if counters == nil { // its Ref was overwritten: retire gives it up
		return true
	}
	if phaseOf(counters.State.Load()) != live { // a forged container's, which retire refuses
		return false
	}
	p.stats.retired.Add(1)
	p.beginReturn(counters)
	return true
}

// beginReturn marks an object that the caller takes out of a container, from its
// owner, or from the free list.
func (p *Pool) beginReturn(counters *stripe.Counters) {
	// (D1) Mark, before the step by which the object leaves: the swap (U2), or
	// under the mutex of the free list the pop before Discard; or together with
	// (B1) under the mutex of the registry. So at no moment that a Drain or Close
	// can see is an object on its way without a mark. The marks are numbers in one
	// order, so that Drain can leave out objects that leave later.
	counters.Publication.Leaving.Store(p.leavings.Next()) // (D1)
	counters.Publication.Left.Store(p.now())              // (D1)
}

// endReturn removes the mark of an object that is not on its way any more, unless
// the object has left once more: mark is the one that it left with.
func endReturn(counters *stripe.Counters, mark uint64) {
	// (D2) Remove the mark, after reset or Discard has returned. For an object
	// that stays in the pool this is under the mutex of the free list, together
	// with the push or the step to private, so that Pool.Close never finds it
	// unmarked and in neither place.
	counters.Publication.Leaving.CompareAndSwap(mark, 0) // (D2)
}

// now is the pool's clock, in nanoseconds.
func (p *Pool) now() int64 { return int64(time.Since(p.begun)) }

// leftFor returns how long ago a marked object left.
func (p *Pool) leftFor(counters *stripe.Counters) time.Duration {
	return time.Duration(max(0, p.now()-counters.Publication.Left.Load()))
}

// giveBack makes an object of the caller's free, for the caller to recycle. It
// returns false if its state is not the private one that the caller saw.
func (p *Pool) giveBack(o *Object, owned uint64) bool {
	counters := o.counters.Load()
	p.registry.mu.Lock()
	defer p.registry.mu.Unlock()

	// (B1) Private to free, by the owner. It is a compare-and-swap, since two
	// Releases of one unpublished object, or a Release and an Update, may race:
	// one caller wins, and marks. It is from the state that the caller saw,
	// generation included: an object that fill gave away is not given back from
	// under its new owner. Step and mark are together under the mutex of the registry, where
	// Drain and Close look. The phase says free before reset runs, so a second
	// Release during a long reset panics. The version of the content is not
	// known any more.
	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)
		return false
	}
	p.beginReturn(counters)
	counters.Publication.Version.Store(0) // (B1)
	p.stats.private.Add(-1)
	return true
}

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
	defer p.endTraced(obj.counters.Load())
	if p.Reset == nil {
		return true
	}
	clean := p.runReset(obj)
	if !clean {
		p.drop(obj)
	}
	return clean
}

// runReset returns the result of reset. If reset does not return, the object is
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
		p.returned.wake()

	// (K2) In the overflow, a sync.Pool, which passes it to at most one Get or
	// leaves it to the collector; then the cleanup settles the stats. The mark
	// goes before: after the Put it may be that of the next way out. Objects
	// that the user wants discarded, or that count towards a limit, do not go
	// there: they must not vanish without Discard, or stay where Get cannot
	// find them. Nor do those of a closed pool, which has no Get any more. One
	// that Close overtakes between the look and the Put is the collector's.
	case p.Discard == nil && p.MaxLive == 0 && p.Spares > 0 && !p.free.isClosed():
		counters := obj.counters.Load()
		endReturn(counters, counters.Publication.Leaving.Load())
		p.overflow.Put(obj) // (K2)
		p.returned.wake()
	default:
		p.drop(obj)
	}
	if surplus {
		p.dropSpares(true)
	}
}

// drop lets a free object leave the pool. It counts as live, with the resources that it
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
		endReturn(counters, mark)
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
		p.beginReturn(obj.counters.Load())
	}
	return obj
}
