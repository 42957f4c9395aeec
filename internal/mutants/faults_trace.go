package main

// traceFaults are planted where versions begin and end to be traced, and where
// references to them are recorded.
var traceFaults = []fault{
	{"X1: no publication looks whether it is to be traced", "internal/refcount/trace.go", []edit{{
		`t.on.Store(versions != 0 || p.HeldTooLong > 0)`, `t.on.Store(false)`,
	}}},
	{"X2: readers stay in the assembly", "internal/refcount/trace.go", []edit{{
		`		s.useAsm.Store(nil) // (X2)`, `		_ = s`,
	}}},
	{"X2: readers of other containers stay in the assembly", "internal/refcount/trace.go", []edit{{
		`	for _, s := range p.slots.all() {
		// (X2)`,
		`	for _, s := range p.slots.all()[:1] {
		// (X2)`,
	}}},
	{"X3: readers in the assembly are not waited for", "internal/refcount/trace.go", []edit{{
		`	if UsesAsm() {`, `	if false {`,
	}}},
	{"X4 after U2: marked after the swap", "internal/refcount/update.go", []edit{
		{
			`	if publication.Traced.Load() != traced {`, `	if false {`,
		},
		{
			`	old = s.swap(next, version)
	s.wake()`,
			`	old = s.swap(next, version)
	publication.Traced.Store(traced)
	s.wake()`,
		},
	}},
	{"X5 before T1: back to the assembly while the version is live", "internal/refcount/retire.go", []edit{
		{
			`	now := counters.State.Load()
	if phaseOf(now) != live ||`,
			`	if counters.Publication.Traced.Load() {
		s.pool.retiredTraced()
	}
	now := counters.State.Load()
	if phaseOf(now) != live ||`,
		},
		{
			`	if counters.Publication.Traced.Load() {
		s.pool.retiredTraced()
	}

	// (T2)`,
			`	// (T2)`,
		},
	}},
	{"X5: back to the assembly although another traced version is live", "internal/refcount/trace.go", []edit{{
		`	if t.live--; t.live > 0 {`, `	if t.live--; false {`,
	}}},
	{"X5: never back to the assembly", "internal/refcount/trace.go", []edit{{
		`	s.useAsm.Store(s) // (X5)`, `	_ = s`,
	}}},
	{"R3: its record is removed after the count", "internal/refcount/read.go", []edit{
		{
			`			if counters.Publication.Traced.Load() { // as long as it is held
				p.tracer.references.gave(counters)
			}
`, ``,
		},
		{
			`			counters.CountReleased(k) // (R3)

			// (R4)`,
			`			counters.CountReleased(k) // (R3)
			if counters.Publication.Traced.Load() {
				p.tracer.references.gave(counters)
			}

			// (R4)`,
		},
	}},
}
