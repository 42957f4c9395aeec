package refcount

import "github.com/poolswap/poolswap/internal/seam"

// freeList holds the free objects of a pool: clean ones, last in first out, so
// that the memory that was used last is used next, and dirty ones, which need
// their reset. Readers only push dirty ones; writers and the sweeper push and
// pop. The clean ones are referenced from here, which keeps them over
// garbage collections.
type freeList struct {
	stats *stats     // of the pool; constant
	mu    seam.Mutex // never held while a function of the user runs, never taken by a reader
	clean []*Object  // guarded by mu; it grows only where Options.Spares is above the default's bound
	limit spareLimit // how many of them are kept; guarded by mu

	closed   bool // nothing is taken or kept any more; guarded by mu
	creating int  // calls that are making an object; guarded by mu

	// dirty is the head of a list linked by Object.next. Anyone pushes, by
	// compare-and-swap, without the mutex. Pops hold mu, which makes them safe
	// from the ABA problem of such lists: with one popper at a time the head
	// cannot leave and come back between the load and the swap.
	dirty seam.Pointer[Object]
}

// pushClean keeps obj, unless as many objects are kept as may be or the pool is
// closed. Ownership of obj passes to the list only if it is kept. surplus says
// that more objects are kept than may be, because the limit has fallen.
func (l *freeList) pushClean(obj *Object) (kept, surplus bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.clean) >= l.limit.now {
		return false, len(l.clean) > l.limit.now
	}
	// The mark goes with the push, under the mutex under which (D4) closed the pool:
	// a Close that comes later drops the object with the others.
	counters := obj.counters.Load()
	endReturn(counters, counters.Publication.Leaving.Load())
	l.clean = append(l.clean, obj)
	return true, false
}

// takeClean returns the clean object that was pushed last, or nil. The caller
// holds mu.
func (l *freeList) takeClean() *Object {
	last := len(l.clean) - 1
	if last < 0 {
		return nil
	}
	obj := l.clean[last]
	l.clean[last] = nil // the list must not keep it alive
	l.clean = l.clean[:last]
	return obj
}

// pushDirty adds an object that needs its reset. It is lock-free: it repeats
// only because another object was pushed or popped.
func (l *freeList) pushDirty(obj *Object) {
	for {
		// (P1) Push. next belongs to the pusher until the compare-and-swap,
		// which passes ownership of obj to the goroutine that pops it. Several
		// readers may push at a time; the swap fails only because another push
		// or pop succeeded.
		head := l.dirty.Load()
		obj.next.Store(head)                   // (P1)
		if l.dirty.CompareAndSwap(head, obj) { // (P1)
			return
		}
	}
}

// pop returns a clean object, which is private now, or else a dirty one, or nil.
// Ownership passes to the caller. One lock covers both lists: see (G1).
func (l *freeList) pop() (obj *Object, clean bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false, ErrClosed
	}
	// A clean object becomes private before the unlock: at no moment that Close can
	// see is it in neither place.
	if obj := l.takeClean(); obj != nil {
		l.begin(obj)
		return obj, true, nil
	}
	return l.takeDirty(), false, nil
}

// beginReset makes a free object of the caller's, which was reset, private, or
// returns false if the pool is closed.
func (l *freeList) beginReset(obj *Object) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.begin(obj)
	return true
}

// beginCreating counts a call that is going to make an object, or returns false
// if the pool is closed.
func (l *freeList) beginCreating() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.creating++
	}
	return !l.closed
}

// endCreating ends the count of beginCreating. made says that the call returns an
// object, which is private by now and so found by a Close that looks after this.
func (l *freeList) endCreating(made bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.creating--
	if made {
		l.limit.handOut(int(l.stats.private.Load()))
	}
}

// isCreating reports whether some call is making an object.
func (l *freeList) isCreating() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.creating > 0
}

// isClosed reports whether the pool is closed.
func (l *freeList) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// popDirty returns an object that needs its reset, or nil. Ownership passes to
// the caller, who resets it or lets it be lost.
func (l *freeList) popDirty() *Object {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeDirty()
}

// takeDirty is popDirty for a caller that holds mu.
func (l *freeList) takeDirty() *Object {
	for {
		// (P3) Pop, under the mutex, so there is one popper at a time. While
		// head is in the list its next does not change, and only this popper
		// can take it out, so the compare-and-swap fails only because an
		// object was pushed on top.
		head := l.dirty.Load()
		if head == nil {
			return nil
		}
		if l.dirty.CompareAndSwap(head, head.next.Load()) { // (P3)
			head.next.Store(nil) // (P3) a popped object must not keep others alive
			return head
		}
	}
}

// count returns how many objects are clean, how many may be, and how many are
// dirty. The walk is safe while readers push: a push only prepends, and pops are
// kept out by mu, so next of an object in the list does not change.
func (l *freeList) count() (clean, limit, dirty int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for obj := l.dirty.Load(); obj != nil; obj = obj.next.Load() {
		dirty++
	}
	return len(l.clean), l.limit.now, dirty
}

// begin begins a generation of a free object that is the caller's. The caller
// holds the mutex of the free list.
func (l *freeList) begin(o *Object) {
	// (G2) Begin a generation. A store will do: no other goroutine writes the
	// state of a free object that is in no list. The generation grows here, so a
	// checker that summed in an earlier one fails at (S4). The counts are not
	// reset: a late reader may have counted and not undone yet, and a reset would
	// make released exceed acquired, or hide a reference of this generation.
	counters := o.counters.Load()
	state := &counters.State
	state.Store(withPhase(state.Load()+generationStep, private)) // (G2)
	endReturn(counters, counters.Publication.Leaving.Load())
	l.limit.handOut(int(l.stats.private.Add(1)))
}
