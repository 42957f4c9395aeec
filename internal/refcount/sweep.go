package refcount

import (
	"runtime/debug"

	"github.com/poolswap/poolswap/internal/seam"
)

// The sweeper resets the objects that readers drained. It is a goroutine that runs
// only while dirty objects exist.

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
