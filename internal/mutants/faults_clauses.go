package main

// clauseFaults leave out one clause of a step each: of a condition, or of its
// writes.
var clauseFaults = []fault{
	{"V3: an Update is compared as well", "internal/refcount/update.go", []edit{{`if swaps != anySwaps && s.swaps`, `if s.swaps`}}},
	{"U1: whatever the phase", "internal/refcount/update.go", []edit{{`if phaseOf(owned) != private || !counters`, `if !counters`}}},
	{"V4: not of a container", "internal/refcount/update.go", []edit{{`publication.Container.Store(s.id)  // (V4)`, `// (V4)`}}},
	{"V4: no number", "internal/refcount/update.go", []edit{{`publication.Version.Store(version) // (V4)`, `// (V4)`}}},
	{"V5: no number is shown", "internal/refcount/update.go", []edit{{`s.version.Store(version) // (V5)`, `// (V5)`}}},
	{"U2: what waits at the limit does not learn that all are current", "internal/refcount/update.go", []edit{{
		`		s.pool.returned.wake()
`,
		``,
	}}},
	{"T1: a store, so that two can retire", "internal/refcount/retire.go", []edit{{
		`!counters.State.CompareAndSwap(now, withPhase(now, retiring)) { // (T1)`,
		`!func() bool { counters.State.Store(withPhase(now, retiring)); return true }() { // (T1)`,
	}}},
	{"L1: an object lost to the fence counts as live", "internal/refcount/retire.go", []edit{{
		`		s.pool.lose()
		stats`,
		`		stats`,
	}}},
	{"L2: an object lost to a release counts as live", "internal/refcount/retire.go", []edit{{
		`		o.pool.lose()
		excess =`,
		`		excess =`,
	}}},
	{"S4: whatever the sums", "internal/refcount/retire.go", []edit{{`if released != acquired || !counters`, `if !counters`}}},
	{"B1: marked by a race that was lost", "internal/refcount/return.go", []edit{
		{
			`	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)
		return false
	}
	p.beginReturn(counters)
`,
			`	p.beginReturn(counters)
	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)
		return false
	}
`,
		},
	}},
	{"B1: marked after the mutex", "internal/refcount/return.go", []edit{
		{
			`	p.beginReturn(counters)
	counters.Publication.Version.Store(0) // (B1)
`,
			`	p.registry.mu.Unlock()
	p.beginReturn(counters)
	p.registry.mu.Lock()
	counters.Publication.Version.Store(0) // (B1)
`,
		},
	}},
	{"G3: a call of the factory that fails counts", "internal/refcount/get.go", []edit{{`		if !made {`, `		if false {`}}},
	{"G3: live is compared as unsigned", "internal/refcount/live.go", []edit{{`if int64(word)>>currentBits >= int64(limit) {`, `if word>>currentBits >= uint64(limit) {`}}},
	{"N1: the fields may be read while they are written", "internal/refcount/misuse.go", []edit{{`.State.Load()) == unborn {`, `.State.Load()) == unborn && false {`}}},
	{"N2: unborn for ever", "internal/refcount/adopt.go", []edit{{`counters.State.Store(uint64(private)) // (N2)`, `// (N2)`}}},
	{"N3: back from any phase", "internal/refcount/adopt.go", []edit{{`if phaseOf(now) != discarded || obj.pool`, `if obj.pool`}}},
	{"K1: kept beyond the limit", "internal/refcount/freelist.go", []edit{{`if l.closed || len(l.clean) >= l.limit.now {`, `if l.closed {`}}},
	{"D2: a kept object stays marked", "internal/refcount/freelist.go", []edit{{
		`	endReturn(counters, counters.Publication.Leaving.Load())
	l.clean`,
		`	_ = counters
	l.clean`,
	}}},
	{"K2: nothing is woken by what goes to the overflow", "internal/refcount/return.go", []edit{{
		`		p.overflow.Put(obj) // (K2)
		p.returned.wake()
`,
		`		p.overflow.Put(obj) // (K2)
`,
	}}},
	{"D2: marked for ever in the overflow", "internal/refcount/return.go", []edit{{
		`		endReturn(counters, counters.Publication.Leaving.Load())
`,
		`		_ = counters
`,
	}}},
	{"K3: a discarded object counts as live", "internal/refcount/return.go", []edit{{
		`		endReturn(counters, mark)
		p.removeLive()
`,
		`		endReturn(counters, mark)
`,
	}}},
	{"D2: a discarded object stays marked", "internal/refcount/return.go", []edit{{
		`		endReturn(counters, mark)
		p.removeLive()
`,
		`		_ = mark
		p.removeLive()
`,
	}}},
	{"D1: a spare is not marked in its Discard", "internal/refcount/return.go", []edit{{
		`		p.beginReturn(obj.counters.Load())
`,
		`		_ = obj.counters
`,
	}}},
	{"P2: a sweeper for each object", "internal/refcount/sweep.go", []edit{{`if p.sweeping.CompareAndSwap(false, true) { // (P2)`, `if p.sweeping.Store(true); true { // (P2)`}}},
	{"P4: the flag is not raised again", "internal/refcount/sweep.go", []edit{{` || !p.sweeping.CompareAndSwap(false, true) { // (P4)`, ` { // (P4)`}}},
	{"P4: the flag stays up", "internal/refcount/sweep.go", []edit{{`		p.sweeping.Store(false)  `, `		// p.sweeping.Store(false)`}}},
	{"G3: ErrLimit at once at the limit", "internal/refcount/publish.go", []edit{{` && live <= current`, ` && (true || live <= current)`}}},
	{"D2: Drain waits for an unmarked object", "internal/refcount/close.go", []edit{{`return e.mark != 0 && e.mark <= last`, `return e.mark <= last`}}},
	{"D3: Close waits for an unmarked object", "internal/refcount/close.go", []edit{{`return e.mark != 0 && e.phase != lost && e.counters`, `return e.phase != lost && e.counters`}}},
	{"D4: Close of a pool does not wait for a private object", "internal/refcount/close.go", []edit{{`return e.phase == private || e.phase`, `return e.phase`}}},
	{"D4: Close of a pool does not wait for a marked object", "internal/refcount/close.go", []edit{{` || e.phase != lost && e.mark != 0
`, `
`}}},
	{"L2: released too often passes", "internal/refcount/retire.go", []edit{{`; extra > 0 {`, `; extra > 0 && false {`}}},
}
