package poolswap

import (
	"runtime/debug"

	"github.com/poolswap/poolswap/internal/seam"
)

// handOver takes a free object from a reader, which must not run reset, and
// sees to it that somebody else does.
func (p *recycler) handOver(ref *Ref) {
	p.spares.pushAwaiting(ref)
	if p.sweeping.CompareAndSwap(false, true) { // (P2) at most one sweeper
		seam.Go(p.sweepFunc)
	}
}

// sweep resets what awaits its reset and ends when nothing is left. If a hook
// panics or calls Goexit, that object is gone and another sweeper carries on
// with the others.
func (p *recycler) sweep() {
	ended := false
	defer func() {
		if ended {
			return
		}
		if p.report != nil {
			if value := recover(); value != nil {
				seam.Go(p.sweepFunc)
				p.report(&HookPanic{Value: value, Stack: debug.Stack()})
				return
			}
		}
		seam.Go(p.sweepFunc)
	}()
	for {
		for ref := p.spares.popAwaiting(); ref != nil; ref = p.spares.popAwaiting() {
			p.recycle(ref)
		}
		p.sweeping.Store(false) // (P4) lower the flag,
		// and look again: a reader that pushed before the store found the flag
		// up and started nobody.
		if p.spares.awaiting.Load() == nil || !p.sweeping.CompareAndSwap(false, true) { // (P4)
			ended = true
			return
		}
	}
}
