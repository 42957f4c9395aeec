package main

// readFaults are planted in the code of readers, and in the Update that they meet.
var readFaults = []fault{
	{"A3 after A4: counted after the re-validation", "internal/refcount/read.go", []edit{
		{
			`		counters.CountAcquired(k) // (A3)`,
			`		// (A3)`,
		},
		{
			`		if current.Load() == obj {`,
			`		if current.Load() == obj {
			counters.CountAcquired(k)`,
		},
		{
			`		counters.CountReleased(k) // (A5)
		seam.Unpin()
		obj.validationFailed()`,
			`		seam.Unpin()
		obj.validationFailed()`,
		},
	}},
	{"A4: no re-validation", "internal/refcount/read.go", []edit{
		{
			`if current.Load() == obj {`,
			`if current.Load() == obj || true {`,
		},
	}},
	{"A4: valid if it is live anywhere", "internal/refcount/read.go", []edit{
		{
			`if current.Load() == obj {`,
			`if current.Load() == obj || phaseOf(counters.State.Load()) == live {`,
		},
	}},
	{"A2: a round begins with the candidate of the last", "internal/refcount/read.go", []edit{
		{
			`	current := &s.current
	for {`,
			`	current := &s.current
	obj := current.Load()
	for {`,
		},
		{
			`		obj := current.Load() // (A2)`,
			`		// (A2)`,
		},
	}},
	{"A5: no undo", "internal/refcount/read.go", []edit{
		{
			`		counters.CountReleased(k) // (A5)
		seam.Unpin()
		obj.validationFailed()`,
			`		seam.Unpin()
		obj.validationFailed()`,
		},
	}},
	{"A5: undo through Release", "internal/refcount/read.go", []edit{
		{
			`		counters.CountReleased(k) // (A5)
		seam.Unpin()
		obj.validationFailed()`,
			`		seam.Unpin()
		obj.pool.Release(unsafe.Pointer(obj), 0)
		obj.validationFailed()`,
		},
	}},
	{"A5: no check after the undo", "internal/refcount/read.go", []edit{
		{
			`	o.pool.stats.retries.Add(1)
	o.slowCheck()`,
			`	o.pool.stats.retries.Add(1)`,
		},
	}},
	{"U2: the swap is a load and a store, and no mutex", "internal/refcount/update.go", []edit{
		{
			`	s.mu.Lock()
	defer s.mu.Unlock()
`,
			``,
		},
		{
			`	old = s.current.Swap(next) // (U2)`,
			`	s.current.Store(next) // (U2)`,
		},
	}},
	{"U2: the old object is reset before it is retired", "internal/refcount/update.go", []edit{
		{
			`	if err := s.end(old, op); err != nil {
		panic(err.Error())
	}`,
			`	if old != nil && s.pool.tryReset(old) && s.retire(old, op).drained {
		s.pool.keep(old)
	}`,
		},
	}},
	{"U2: the old object is not retired", "internal/refcount/update.go", []edit{
		{
			`	if err := s.end(old, op); err != nil {`,
			`	if err := s.pool.settle(old, retirement{}); err != nil {`,
		},
	}},
	{"U2 after T1: retired before it is replaced", "internal/refcount/update.go", []edit{
		{
			`	old = s.current.Swap(next) // (U2)`,
			`	if old != nil {
		_ = s.pool.settle(old, s.retire(old, "Update"))
	}
	old = nil
	s.current.Swap(next) // (U2)`,
		},
	}},
	{"R3: a release is not counted", "internal/refcount/read.go", []edit{
		{
			`			counters.CountReleased(k) // (R3)`,
			`			_ = k // (R3)`,
		},
	}},
	{"R4 before R3: the state is read before the count", "internal/refcount/read.go", []edit{
		{
			`			counters.CountReleased(k) // (R3)`,
			`			after := counters.State.Load()
			counters.CountReleased(k) // (R3)`,
		},
		{
			`			after := counters.State.Load() // (R4)
			seam.Unpin()`,
			`			seam.Unpin()`,
		},
	}},
	{"R4: no check after a late release", "internal/refcount/read.go", []edit{
		{
			`			if phaseOf(after) == live {`,
			`			if phaseOf(after) == live || true {`,
		},
	}},
	{"R3: a release of a retired object is not checked", "internal/refcount/read.go", []edit{
		{
			`		seam.Unpin()
		o.releaseRetired()`,
			`		seam.Unpin()`,
		},
	}},
	{"A1: the stripe of another P", "internal/refcount/read.go", []edit{
		{
			`k := seam.Pin() // (A1)`,
			`k := seam.Pin() ^ 1 // (A1)`,
		},
	}},
	{"R1: whatever the phase", "internal/refcount/read.go", []edit{
		{
			`if phaseOf(counters.State.Load()) == live { // (R1)`,
			`if phaseOf(counters.State.Load()) != lost { // (R1)`,
		},
	}},
	{"R2: the stripe of another P", "internal/refcount/read.go", []edit{
		{
			`k := seam.Pin() // (R2)`,
			`k := seam.Pin() ^ 1 // (R2)`,
		},
	}},
}
