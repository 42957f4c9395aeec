package main

import "slices"

// fault is a small error planted in the source of the protocol: in file each
// old text, which must be there exactly once, becomes the new one.
type fault struct {
	name  string
	file  string
	edits []edit
}

type edit struct{ old, new string }

// faults are what every layer of tests is measured against.
var faults = slices.Concat(methodFaults, assemblyFaults)

// methodFaults are planted in the methods. The labels are
// those of the source; each step they change is there because of what happens
// without it.
var methodFaults = []fault{
	{"A3 after A4: counted after the re-validation", "slot.go", []edit{
		{
			`		counters.CountAcquired(k) // (A3)`,
			`		// (A3)`,
		},
		{
			`		if current.Load() == ref {`,
			`		if current.Load() == ref {
			counters.CountAcquired(k)`,
		},
		{
			`		counters.CountReleased(k)
		seam.Unpin()
		ref.overtaken()`,
			`		seam.Unpin()
		ref.overtaken()`,
		},
	}},
	{"A4: no re-validation", "slot.go", []edit{
		{
			`if current.Load() == ref {`,
			`if current.Load() == ref || true {`,
		},
	}},
	{"A4: valid if it is live anywhere", "slot.go", []edit{
		{
			`if current.Load() == ref {`,
			`if current.Load() == ref || phaseOf(counters.State.Load()) == live {`,
		},
	}},
	{"A2: a round begins with the candidate of the last", "slot.go", []edit{
		{
			`	for {
		k := seam.Pin()       // (A1) choose the stripe
		ref := current.Load()`,
			`	ref := current.Load()
	for {
		k := seam.Pin() // (A1)`,
		},
	}},
	{"A5: no undo", "slot.go", []edit{
		{
			`		counters.CountReleased(k)
		seam.Unpin()
		ref.overtaken()`,
			`		seam.Unpin()
		ref.overtaken()`,
		},
	}},
	{"A5: undo through Release", "slot.go", []edit{
		{
			`		counters.CountReleased(k)
		seam.Unpin()
		ref.overtaken()`,
			`		seam.Unpin()
		ref.pool.release(unsafe.Pointer(ref), 0)
		ref.overtaken()`,
		},
	}},
	{"A5: no check after the undo", "slot.go", []edit{
		{
			`	r.slowCheck()`,
			`	_ = r`,
		},
	}},
	{"U2: the swap is a load and a store", "slot.go", []edit{
		{
			`	old := s.current.Swap(next)`,
			`	old := s.current.Load()
	s.current.Store(next)`,
		},
	}},
	{"U2: what was current is reset before it is retired", "slot.go", []edit{
		{
			`	if old != nil && old.retire() {
		s.pool.recycle(old)`,
			`	if old != nil && s.pool.scrub(old) && old.retire() {
		s.pool.keep(old)`,
		},
	}},
	{"U2: what was current is not retired", "slot.go", []edit{
		{
			`if old != nil && old.retire() {`,
			`if old != nil && false {`,
		},
	}},
	{"U2 after T1: retired before it is replaced", "slot.go", []edit{
		{
			`	old := s.current.Swap(next)`,
			`	if now := s.current.Load(); now != nil && now.retire() {
		s.pool.recycle(now)
	}
	old := (*Ref)(nil)
	s.current.Swap(next)`,
		},
	}},
	{"R3: a release is not counted", "release.go", []edit{
		{
			`			counters.CountReleased(k) // (R3)`,
			`			_ = k // (R3)`,
		},
	}},
	{"R4 before R3: the state is read before the count", "release.go", []edit{
		{
			`			counters.CountReleased(k) // (R3)`,
			`			after := counters.State.Load()
			counters.CountReleased(k) // (R3)`,
		},
		{
			`			after := counters.State.Load()
			seam.Unpin()`,
			`			seam.Unpin()`,
		},
	}},
	{"R4: no check after a late release", "release.go", []edit{
		{
			`			if phaseOf(after) == live {`,
			`			if phaseOf(after) == live || true {`,
		},
	}},
	{"R3: a release of a retired object is not checked", "release.go", []edit{
		{
			`		seam.Unpin()
		ref.releasedLate()`,
			`		seam.Unpin()`,
		},
	}},
	{"T1: no retiring", "retire.go", []edit{
		{
			`	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, in(now, retiring)) {`,
			`	if phaseOf(now) != live {`,
		},
	}},
	{"T2: no heavy fence", "retire.go", []edit{
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
	}},
	{"T2 before T1: the fence before retiring", "retire.go", []edit{
		{
			`	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, in(now, retiring)) {`,
			`	_ = counters.HeavyFence()
	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, in(now, retiring)) {`,
		},
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
	}},
	{"T2 after T3: the fence after retired", "retire.go", []edit{
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
		{
			`	counters.State.Store(in(now, retired))`,
			`	counters.State.Store(in(now, retired))
	_ = counters.HeavyFence()`,
		},
	}},
	{"T3: the writer does not sum", "retire.go", []edit{
		{
			`	return r.reclaim()`,
			`	return false`,
		},
	}},
	{"S1: a retiring object is summed", "retire.go", []edit{
		{
			`	if phaseOf(now) != retired {`,
			`	if phaseOf(now) != retired && phaseOf(now) != retiring {`,
		},
	}},
	{"S2 after S3: acquired is summed first", "retire.go", []edit{
		{
			`	released := counters.Released()                     // (S2)`,
			`	acquired := counters.Acquired() // (S3)
	released := counters.Released() // (S2)`,
		},
		{
			`	acquired := counters.Acquired()                     // (S3)`,
			`	//`,
		},
	}},
	{"S4: a store, so that two can win", "retire.go", []edit{
		{
			`!counters.State.CompareAndSwap(now, in(now, free)) { // (S4)`,
			`!func() bool { counters.State.Store(in(now, free)); return true }() { // (S4)`,
		},
	}},
	{"S4: whatever the generation", "retire.go", []edit{
		{
			`	if released != acquired ||`,
			`	if now = counters.State.Load(); phaseOf(now) != retired {
		return false
	}
	if released != acquired ||`,
		},
	}},
	{"C1: no fence", "retire.go", []edit{
		{
			`	seam.Fence()     // (C1)`,
			`	_ = seam.Fence // (C1)`,
		},
	}},
	{"C1: the fence is none", "internal/seam/atomics.go", []edit{
		{
			`	var word atomic.Int32
	word.Add(1)
`,
			``,
		},
	}},
	{"C2: the phase is not read again after the fence", "retire.go", []edit{
		{
			`	seam.Fence()     // (C1)`,
			`	if phaseOf(r.counters.Load().State.Load()) != retired {
		return
	}
	seam.Fence() // (C1)`,
		},
	}},
	{"C2: drained, and nobody is told", "retire.go", []edit{
		{
			`		r.pool.handOver(r)`,
			`		_ = r`,
		},
	}},
	{"G2: no generation", "recycler.go", []edit{
		{
			`in(state.Load()+nextLife, private)) // (G2)`,
			`in(state.Load(), private)) // (G2)`,
		},
	}},
	{"G2: counts begin anew in each life", "recycler.go", []edit{
		{
			`		state := &ref.counters.Load().State
		state.Store(in(state.Load()+nextLife, private)) // (G2)`,
			`		fresh := stripe.New(p.portable)
		fresh.State.Store(ref.counters.Load().State.Load())
		ref.counters.Store(fresh)
		state := &fresh.State
		state.Store(in(state.Load()+nextLife, private)) // (G2)`,
		},
	}},
	{"P1: the push is a load and a store", "spares.go", []edit{
		{
			`if s.awaiting.CompareAndSwap(head, ref) {`,
			`if s.awaiting.Store(ref); true {`,
		},
	}},
	{"P3: the pop is a load and a store", "spares.go", []edit{
		{
			`if s.awaiting.CompareAndSwap(head, head.next) {`,
			`if s.awaiting.Store(head.next); true {`,
		},
	}},
	{"P2: no sweeper is started", "sweeper.go", []edit{
		{
			`		seam.Go(p.sweepFunc)
	}
}`,
			`	}
}`,
		},
	}},
	{"P4: the sweeper does not look again", "sweeper.go", []edit{
		{
			`if p.spares.awaiting.Load() == nil ||`,
			`if true ||`,
		},
	}},
	{"P4: the sweeper looks before it lowers the flag", "sweeper.go", []edit{
		{
			`		p.sweeping.Store(false)`,
			`		empty := p.spares.awaiting.Load() == nil
		p.sweeping.Store(false)`,
		},
		{
			`if p.spares.awaiting.Load() == nil ||`,
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
	{"B1: a store, so that two can give back", "release.go", []edit{
		{
			`		if !counters.State.CompareAndSwap(now, in(now, free)) {`,
			`		if counters.State.Store(in(now, free)); false {`,
		},
	}},
	{"U1: a store, so that two can publish", "slot.go", []edit{
		{
			`if phaseOf(now) != private || !state.CompareAndSwap(now, in(now, live)) { // (U1) private to live
		s.refuse(next)
	}`,
			`if phaseOf(now) != private {
		s.refuse(next)
	}
	state.Store(in(now, live)) // (U1)`,
		},
	}},
	{"G3: the limit is looked at, and then counted", "tally.go", []edit{
		{
			`if t.live.CompareAndSwap(live, live+1) {`,
			`if t.live.Add(1); true {`,
		},
	}},
	{"N1: a store, so that two can adopt, and nobody remembers", "recycler.go", []edit{
		{
			`if !ref.counters.CompareAndSwap(nil, counters) {`,
			`if ref.counters.Store(counters); false {`,
		},
		{
			`had := p.known.add(ref, counters); had != nil {`,
			`had := p.known.add(ref, counters); false {`,
		},
	}},
	{"N3: a store, so that two can bring it back", "recycler.go", []edit{
		{
			`state.CompareAndSwap(now, in(now+nextLife, private)) // (N3)`,
			`func() bool { state.Store(in(now+nextLife, private)); return true }() // (N3)`,
		},
	}},
	{"Reader: Park does not release", "reader.go", []edit{
		{
			`	release(r.slot, unsafe.Pointer(held))`,
			`	_ = unsafe.Pointer(held)`,
		},
	}},
}
