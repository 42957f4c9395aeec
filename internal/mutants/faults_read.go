package main

// readFaults are planted in what readers do, and in the Update that they meet.
var readFaults = []fault{
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
}
