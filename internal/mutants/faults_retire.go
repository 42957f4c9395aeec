package main

// retireFaults are planted between an object's replacement and its return.
var retireFaults = []fault{
	{"T1: no retiring", "internal/refcount/retire.go", []edit{
		{
			`	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, withPhase(now, retiring)) {`,
			`	if phaseOf(now) != live {`,
		},
	}},
	{"T2: no heavy fence", "internal/refcount/retire.go", []edit{
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
	}},
	{"T2 before T1: the fence before retiring", "internal/refcount/retire.go", []edit{
		{
			`	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, withPhase(now, retiring)) {`,
			`	_ = counters.HeavyFence()
	if phaseOf(now) != live || !counters.State.CompareAndSwap(now, withPhase(now, retiring)) {`,
		},
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
	}},
	{"T2 after T3: the fence after retired", "internal/refcount/retire.go", []edit{
		{
			`if err := counters.HeavyFence(); err != nil {`,
			`if err := error(nil); err != nil {`,
		},
		{
			`	counters.State.Store(withPhase(now, retired))`,
			`	counters.State.Store(withPhase(now, retired))
	_ = counters.HeavyFence()`,
		},
	}},
	{"T3: the writer does not sum", "internal/refcount/retire.go", []edit{
		{
			`	drained, excess := o.reclaim()
	return retirement`,
			`	drained, excess := false, (*OverReleaseError)(nil)
	return retirement`,
		},
	}},
	{"S1: a retiring object is summed", "internal/refcount/retire.go", []edit{
		{
			`	if phaseOf(now) != retired {`,
			`	if phaseOf(now) != retired && phaseOf(now) != retiring {`,
		},
	}},
	{"S2 after S3: acquired is summed first", "internal/refcount/retire.go", []edit{
		{
			`	released := counters.Released() // (S2)`,
			`	acquired := counters.Acquired() // (S3)
	released := counters.Released() // (S2)`,
		},
		{
			`	acquired := counters.Acquired() // (S3)
	if extra`,
			`	if extra`,
		},
	}},
	{"S4: a store, so that two can win", "internal/refcount/retire.go", []edit{
		{
			`!counters.State.CompareAndSwap(now, withPhase(now, free)) { // (S4)`,
			`!func() bool { counters.State.Store(withPhase(now, free)); return true }() { // (S4)`,
		},
	}},
	{"S4: whatever the generation", "internal/refcount/retire.go", []edit{
		{
			`	if released != acquired ||`,
			`	if now = counters.State.Load(); phaseOf(now) != retired {
		return false, nil
	}
	if released != acquired ||`,
		},
	}},
	{"L2: a store, so that two can report", "internal/refcount/retire.go", []edit{
		{
			`!counters.State.CompareAndSwap(now, withPhase(now, lost)) { // (L2)`,
			`!func() bool { counters.State.Store(withPhase(now, lost)); return true }() { // (L2)`,
		},
	}},
	{"C1: no fence", "internal/refcount/read.go", []edit{
		{
			`	seam.Fence() // (C1)`,
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
	{"C2: the phase is not read again after the fence", "internal/refcount/read.go", []edit{
		{
			`	seam.Fence() // (C1)`,
			`	if phaseOf(o.counters.Load().State.Load()) != retired {
		return
	}
	seam.Fence() // (C1)`,
		},
	}},
	{"C2: drained, and not enqueued", "internal/refcount/read.go", []edit{
		{
			`		o.pool.enqueueReset(o)`,
			`		_ = o`,
		},
	}},
	{"L1: retired, as if the fence had not failed", "internal/refcount/retire.go", []edit{
		{
			`withPhase(now, lost)) // (L1)`,
			`withPhase(now, retired)) // (L1)`,
		},
	}},
	{"L4: live, as if its Ref were whole", "internal/refcount/retire.go", []edit{
		{
			`counters.State.Store(withPhase(counters.State.Load(), lost)) // (L4)`,
			`// (L4)`,
		},
	}},
}
