package main

// unitFaults leave out clauses, too, but no scenario of the scheduler can tell:
// they are about misuse, about hooks that a scenario does not have, or about
// the description of an object and not its ownership.
var unitFaults = []fault{
	{"U1: whatever the generation", "internal/refcount/update.go", []edit{{
		`	if phaseOf(owned) != private ||`,
		`	owned = counters.State.Load()
	if phaseOf(owned) != private ||`,
	}}},
	{"V5: emptying wakes", "internal/refcount/update.go", []edit{{
		`		old = s.swap(nil, 0)
`,
		`		old = s.swap(nil, 0)
		s.wake()
`,
	}}},
	{"T1: whatever the phase", "internal/refcount/retire.go", []edit{{`if phaseOf(now) != live || !counters`, `if !counters`}}},
	{"L4: an object lost to its Ref counts as live", "internal/refcount/retire.go", []edit{{
		`		p.lose()
		if counters.Pub`,
		`		if counters.Pub`,
	}}},
	{"B1: a returned object keeps its number", "internal/refcount/return.go", []edit{{`counters.Publication.Version.Store(0) // (B1)`, `// (B1)`}}},
	{"G1: a dirty object wakes nothing", "internal/refcount/get.go", []edit{{
		`		p.returned.wake() // one that was dirty`,
		`		// one that was dirty`,
	}}},
	{"G1: a dirty object is kept without spares", "internal/refcount/get.go", []edit{{`if p.Spares == 0 {`, `if false {`}}},
	{"L3: an object lost to its reset counts as live", "internal/refcount/return.go", []edit{{
		`			p.stats.lost.Add(1)
			p.removeLive()
`,
		`			p.stats.lost.Add(1)
`,
	}}},
	{"L2: Drain waits for a lost object", "internal/refcount/close.go", []edit{{`e.mark <= last && e.phase != lost`, `e.mark <= last`}}},
	{"L2: Close waits for a lost object", "internal/refcount/close.go", []edit{{`return e.mark != 0 && e.phase != lost && e.counters`, `return e.mark != 0 && e.counters`}}},
	{"D2: an object reset by Get stays marked", "internal/refcount/freelist.go", []edit{{
		`	endReturn(counters, counters.Publication.Leaving.Load())
	l.limit`, `	l.limit`,
	}}},
	{"N3: back to any pool", "internal/refcount/adopt.go", []edit{{`obj.pool != p || obj.self`, `obj.self`}}},
	{"N3: back as a copy", "internal/refcount/adopt.go", []edit{{`obj.self != uintptr(unsafe.Pointer(obj)) ||
`, `false ||
`}}},
	{"K1: kept in a closed pool", "internal/refcount/freelist.go", []edit{{`if l.closed || len(l.clean)`, `if len(l.clean)`}}},
	{"K2: what counts towards a limit goes to the overflow", "internal/refcount/return.go", []edit{{`p.MaxLive == 0 && p.Spares`, `p.Spares`}}},
	{"K2: to the overflow without spares", "internal/refcount/return.go", []edit{{`p.Spares > 0 && !p.free`, `!p.free`}}},
	{"K2: to the overflow of a closed pool", "internal/refcount/return.go", []edit{{` && !p.free.isClosed():`, `:`}}},
	{"K3: a discarded object keeps its number", "internal/refcount/return.go", []edit{{`counters.Publication.Version.Store(0)                             // (K3)`, `// (K3)`}}},
	{"P3: a popped object keeps its link", "internal/refcount/freelist.go", []edit{{`head.next.Store(nil) // (P3)`, `// (P3)`}}},
	{"D1: no time", "internal/refcount/return.go", []edit{{`counters.Publication.Left.Store(p.now())              // (D1)`, `// (D1)`}}},
	{"D1: marked whatever the phase", "internal/refcount/return.go", []edit{{`if phaseOf(counters.State.Load()) != live { // a forged`, `if false { // a forged`}}},
	{"D2: another's mark is removed", "internal/refcount/return.go", []edit{{`counters.Publication.Leaving.CompareAndSwap(mark, 0) // (D2)`, `counters.Publication.Leaving.Store(0*mark) // (D2)`}}},
	{"D3: Close does not wait for a publisher in fill", "internal/refcount/close.go", []edit{{`if _, err := s.turn.Take(ctx, nil); err != nil {`, `if _, err := s.turn.Take(ctx, nil); err != nil && false {`}}},
	{"D4: a container is made of a closed pool", "internal/refcount/slot.go", []edit{{`	if l.closed {
		return false
	}
	if l.known`, `	if l.known`}}},
	{"D4: Close of a pool waits for a lost object", "internal/refcount/close.go", []edit{{`e.phase != lost && e.mark != 0
`, `e.mark != 0
`}}},
	{"G4: the object of a dropped container stays counted", "internal/refcount/cleanup.go", []edit{{`stats.objects.change(0, -1) // (G4)`, `// (G4)`}}},
	{"the collector wakes for a free object", "internal/refcount/cleanup.go", []edit{{`	if phaseOf(state) != free {
`, `	if true {
`}}},
	{"R1: of any pool", "internal/refcount/read.go", []edit{{`if o.pool == p && p != nil {`, `if p != nil {`}}},
	{"R3: a lost object is not counted", "internal/refcount/read.go", []edit{{`case live, retiring, retired, lost:`, `case live, retiring, retired:`}}},
	{"H1: Retain of a private object", "internal/refcount/read.go", []edit{{`if phaseOf(counters.State.Load()) == private {`, `if false {`}}},
	{"H1: Retain of a free object", "internal/refcount/read.go", []edit{{`	o.checkNotReleased(op)
`, ``}}},
	{"G1: from a closed pool", "internal/refcount/freelist.go", []edit{{
		`	if l.closed {
		return nil, false, ErrClosed
	}
`, ``,
	}}},
	{"G3: above the limit no wait is in vain", "internal/refcount/publish.go", []edit{{`live >= p.MaxLive && live`, `live == p.MaxLive && live`}}},
	{"G3: ctx has ended when an object is back", "internal/refcount/publish.go", []edit{{`ended = ctx.Err() // at`, `ended = nil // at`}}},
	{"a HeldError counts discarded objects as being reset", "internal/refcount/close.go", []edit{{`			if obj.mark != 0 {
`, `			if true {
`}}},
	{"D3: Close keeps the turn while it waits", "internal/refcount/close.go", []edit{{`	s.turn.Pass()
	return excess, s.pool`, `	defer s.turn.Pass()
	return excess, s.pool`}}},
	{"D3: Discard runs before the waiters are woken", "internal/refcount/close.go", []edit{{`	s.closing.Fire()
	s.wake()
	return s.end(old, "Close")
`, `	defer s.wake()
	defer s.closing.Fire()
	return s.end(old, "Close")
`}}},
	{"D4: the pool takes containers while it closes the others", "internal/refcount/close.go", []edit{{`	p.slots.close()
	for`, `	defer p.slots.close()
	for`}}},
	{"V3: emptying an empty container is no swap", "internal/refcount/update.go", []edit{{`		old = s.swap(nil, 0)
`, `		if s.current.Load() != nil {
			old = s.swap(nil, 0)
		}
`}}},
	{"Reader: Park has let the object go when Release has returned", "reader.go", []edit{{
		`	r.held, r.obj = nil, nil
	refcount.Release(r.slot, unsafe.Pointer(obj))
`,
		`	refcount.Release(r.slot, unsafe.Pointer(obj))
	r.held, r.obj = nil, nil
`,
	}}},
}
