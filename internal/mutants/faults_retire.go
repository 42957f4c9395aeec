package main

// retireFaults are planted between an object's replacement and its return.
var retireFaults = []fault{
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
}
