package main

// poolFaults are planted where objects come from and go to.
var poolFaults = []fault{
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
