package main

// poolFaults are planted where objects come from and go to.
var poolFaults = []fault{
	{"G2: no generation", "internal/refcount/freelist.go", []edit{
		{
			`withPhase(state.Load()+generationStep, private)) // (G2)`,
			`withPhase(state.Load(), private)) // (G2)`,
		},
	}},
	{"G2: counts begin anew in each generation", "internal/refcount/freelist.go", []edit{
		{
			`import "github.com/poolswap/poolswap/internal/seam"`,
			`import (
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)`,
		},
		{
			`	counters := o.counters.Load()
	state := &counters.State`,
			`	counters := stripe.New(o.pool.Portable)
	counters.State.Store(o.counters.Load().State.Load())
	o.counters.Store(counters)
	state := &counters.State`,
		},
	}},
	{"P1: the push is a load and a store", "internal/refcount/freelist.go", []edit{
		{
			`if l.dirty.CompareAndSwap(head, obj) {`,
			`if l.dirty.Store(obj); true {`,
		},
	}},
	{"P1: the link is written after the push", "internal/refcount/freelist.go", []edit{
		{
			`		obj.next.Store(head)                   // (P1)
`,
			``,
		},
		{
			`		if l.dirty.CompareAndSwap(head, obj) { // (P1)
			return`,
			`		if l.dirty.CompareAndSwap(head, obj) { // (P1)
			obj.next.Store(head)
			return`,
		},
	}},
	{"P3: the pop is a load and a store", "internal/refcount/freelist.go", []edit{
		{
			`if l.dirty.CompareAndSwap(head, head.next.Load()) {`,
			`if l.dirty.Store(head.next.Load()); true {`,
		},
	}},
	{"P2: no sweeper is started", "internal/refcount/sweep.go", []edit{
		{
			`		seam.Go(p.sweepFunc)
	}
}`,
			`	}
}`,
		},
	}},
	{"P4: the sweeper does not look again", "internal/refcount/sweep.go", []edit{
		{
			`if p.free.dirty.Load() == nil ||`,
			`if true ||`,
		},
	}},
	{"P4: the sweeper looks before it lowers the flag", "internal/refcount/sweep.go", []edit{
		{
			`		p.sweeping.Store(false)`,
			`		empty := p.free.dirty.Load() == nil
		p.sweeping.Store(false)`,
		},
		{
			`if p.free.dirty.Load() == nil ||`,
			`if empty ||`,
		},
	}},
	{"S2: the overflow stripe is left out of released", "internal/stripe/counters.go", []edit{
		{
			`func (c *Counters) Released() uint64 {
	var sum uint64
	for k := 0; k <= c.owned; k++ {`,
			`func (c *Counters) Released() uint64 {
	var sum uint64
	for k := 0; k < c.owned; k++ {`,
		},
	}},
	{"S3: the overflow stripe is left out of acquired", "internal/stripe/counters.go", []edit{
		{
			`func (c *Counters) Acquired() uint64 {
	var sum uint64
	for k := 0; k <= c.owned; k++ {`,
			`func (c *Counters) Acquired() uint64 {
	var sum uint64
	for k := 0; k < c.owned; k++ {`,
		},
	}},
	{"B1: a store, so that two can give back", "internal/refcount/return.go", []edit{
		{
			`	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)`,
			`	if counters.State.Store(withPhase(owned, free)); false { // (B1)`,
		},
	}},
	{"U1: a store, so that two can publish", "internal/refcount/update.go", []edit{
		{
			`!counters.State.CompareAndSwap(owned, withPhase(owned, live)) { // (U1)`,
			`!func() bool { counters.State.Store(withPhase(owned, live)); return true }() { // (U1)`,
		},
	}},
	{"G3: the limit is looked at, and then counted", "internal/refcount/live.go", []edit{
		{
			`if s.objects.word.CompareAndSwap(word, word+1<<currentBits) {`,
			`if s.objects.change(1, 0); true {`,
		},
	}},
	{"N1: a store, so that two can adopt, and no registry", "internal/refcount/adopt.go", []edit{
		{
			`if !obj.counters.CompareAndSwap(nil, counters) {`,
			`if obj.counters.Store(counters); false {`,
		},
		{
			`had := p.registry.add(obj, counters); had != nil {`,
			`had := p.registry.add(obj, counters); false {`,
		},
	}},
	{"N3: a store, so that two can bring it back", "internal/refcount/adopt.go", []edit{
		{
			`!state.CompareAndSwap(now, owned) { // (N3)`,
			`func() bool { state.Store(owned); return false }() { // (N3)`,
		},
	}},
	{"N4: what Close overtook stays adopted", "internal/refcount/update.go", []edit{
		{
			`			if adopted {
`,
			`			if adopted && false {
`,
		},
	}},
	{"N4: a store, although another has published it", "internal/refcount/adopt.go", []edit{
		{
			`	if !obj.counters.Load().State.CompareAndSwap(owned, withPhase(owned, discarded)) { // (N4)
		return
	}
`,
			`	obj.counters.Load().State.Store(withPhase(owned, discarded)) // (N4)
`,
		},
	}},
	{"N4: what waits for objects is not woken", "internal/refcount/adopt.go", []edit{
		{
			`	p.stats.discarded.Add(1)
	p.removeLive()
`,
			`	p.stats.discarded.Add(1)
	p.stats.objects.change(-1, 0)
`,
		},
	}},
	{"N4: what Close overtook stays private", "internal/refcount/adopt.go", []edit{
		{
			`p.stats.private.Add(-1)`,
			`p.stats.private.Add(0)`,
		},
	}},
	{"Reader: Park does not release", "reader.go", []edit{
		{
			`	refcount.Release(r.slot, unsafe.Pointer(obj))`,
			`	_ = unsafe.Pointer(obj)`,
		},
	}},
	{"G1: clean and dirty objects are looked for under two locks", "internal/refcount/freelist.go", []edit{
		{
			`	return l.takeDirty(), false, nil
`,
			`	l.mu.Unlock()
	l.mu.Lock()
	return l.takeDirty(), false, nil
`,
		},
	}},
	{"K2: an object to be discarded goes to the overflow", "internal/refcount/return.go", []edit{
		{
			`case p.Discard == nil && `,
			`case `,
		},
	}},
	{"D2 after K2: marked in the overflow", "internal/refcount/return.go", []edit{
		{
			`		endReturn(counters, counters.Publication.Leaving.Load())
		p.overflow.Put(obj) // (K2)
`,
			`		p.overflow.Put(obj) // (K2)
		endReturn(counters, counters.Publication.Leaving.Load())
`,
		},
	}},
	{"K3 after Discard: discarded when Discard has returned", "internal/refcount/return.go", []edit{
		{
			`	counters.State.Store(withPhase(counters.State.Load(), discarded)) // (K3)`,
			`	// (K3)`,
		},
		{
			`		p.Discard(obj)
	}
`,
			`		p.Discard(obj)
	}
	counters.State.Store(withPhase(counters.State.Load(), discarded))
`,
		},
	}},
	{"L3: free, as if reset had returned", "internal/refcount/return.go", []edit{
		{
			`counters.State.Store(withPhase(counters.State.Load(), lost)) // (L3)`,
			`// (L3)`,
		},
	}},
	{"N2 before the fields: private from the beginning", "internal/refcount/adopt.go", []edit{
		{
			`counters.State.Store(uint64(unborn))  `,
			`counters.State.Store(uint64(private)) `,
		},
	}},
	{"N3: back in the generation in which it was discarded", "internal/refcount/adopt.go", []edit{
		{
			`owned = withPhase(now+generationStep, private)`,
			`owned = withPhase(now, private)`,
		},
	}},
	{"K3: what leaves again in its Discard loses its mark", "internal/refcount/return.go", []edit{
		{
			`		endReturn(counters, mark)
		p.removeLive()
`,
			`		_ = mark
		endReturn(counters, counters.Publication.Leaving.Load())
		p.removeLive()
`,
		},
	}},
	{"the sweeper goes on when Report has returned", "internal/refcount/sweep.go", []edit{
		{
			`				seam.Go(p.sweepFunc)
				p.Reports.HookPanic(value, debug.Stack())
`,
			`				p.Reports.HookPanic(value, debug.Stack())
				seam.Go(p.sweepFunc)
`,
		},
	}},
	{"the sweeper goes on when Report has ended", "internal/refcount/sweep.go", []edit{
		{
			`				seam.Go(p.sweepFunc)
				p.Reports.HookPanic(value, debug.Stack())
`,
			`				defer seam.Go(p.sweepFunc)
				p.Reports.HookPanic(value, debug.Stack())
`,
		},
	}},
}
