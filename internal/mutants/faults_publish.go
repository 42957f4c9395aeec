package main

// publishFaults are planted in the writer's side: Publish, versions, waiting,
// Retain, Drain and Close.
var publishFaults = []fault{
	{"V1: no turn", "internal/refcount/publish.go", []edit{
		{
			`taken, err := s.turn.Take(ctx, s.closing) // (V1)`,
			`taken, err := true, ctx.Err() // (V1)`,
		},
	}},
	{"V2: the current object is taken before the mutex", "internal/refcount/publish.go", []edit{
		{
			`	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
`,
			`	_, w.current = Acquire(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
`,
		},
		{
			`	_, w.current = Acquire(s) // (V2)
`,
			`	// (V2)
`,
		},
	}},
	{"V3: a conflict is not noticed", "internal/refcount/update.go", []edit{
		{
			`if swaps != anySwaps && s.swaps != swaps { // (V3)`,
			`if swaps != anySwaps && false { // (V3)`,
		},
	}},
	{"V3: a conflict is noticed by the address", "internal/refcount/update.go", []edit{
		{
			`import "errors"`,
			`import (
	"errors"
	"unsafe"
)`,
		},
		{
			`	s.swaps++
`,
			`	s.swaps = uint64(uintptr(unsafe.Pointer(next)))
`,
		},
	}},
	{"V3: a closed container is not noticed", "internal/refcount/update.go", []edit{
		{
			`	if s.closed { // (V3)`,
			`	if false { // (V3)`,
		},
	}},
	{"V4 after U2: numbered after the swap", "internal/refcount/update.go", []edit{
		{
			`	publication := &counters.Publication
	publication.Container.Store(s.id)  // (V4)
	publication.Version.Store(version) // (V4)
`,
			`	publication := &counters.Publication
	// (V4)
`,
		},
		{
			`	s.wake()
	return old, version, nil
`,
			`	counters.Publication.Container.Store(s.id)
	counters.Publication.Version.Store(version)
	s.wake()
	return old, version, nil
`,
		},
	}},
	{"V4 after the mutex: numbered after the unlock", "internal/refcount/update.go", []edit{
		{
			`	publication := &counters.Publication
	publication.Container.Store(s.id)  // (V4)
	publication.Version.Store(version) // (V4)
`,
			`	publication := &counters.Publication
	// (V4)
`,
		},
		{
			`	s.mu.Lock()
	defer s.mu.Unlock()
`,
			`	defer func() {
		if version != 0 {
			publication := &next.counters.Load().Publication
			publication.Container.Store(s.id)
			publication.Version.Store(version)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
`,
		},
	}},
	{"V5 after the mutex: the version is stored after the unlock", "internal/refcount/update.go", []edit{
		{
			`	s.version.Store(version) // (V5)`,
			`	if version == 0 {
		s.version.Store(version) // (V5)
	}`,
		},
		{
			`	s.mu.Lock()
	defer s.mu.Unlock()
`,
			`	defer func() {
		if version != 0 {
			s.version.Store(version)
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
`,
		},
	}},
	{"V5: the waiters are woken before the mutex", "internal/refcount/update.go", []edit{
		{
			`	s.mu.Lock()
	defer s.mu.Unlock()
`,
			`	s.wake()
	s.mu.Lock()
	defer s.mu.Unlock()
`,
		},
		{
			`	s.wake()
	return old, version, nil
`,
			`	return old, version, nil
`,
		},
	}},
	{"V6: the turn is lost if fill panics", "internal/refcount/publish.go", []edit{
		{
			`	defer s.turn.Pass() // (V6)
`,
			`	returned := true
	defer func() {
		if returned {
			s.turn.Pass() // (V6)
		}
	}()
`,
		},
		{
			`	if err := fill(unsafe.Add(unsafe.Pointer(w.next), -int(s.offset)), w.current); err != nil {
`,
			`	returned = false
	err = fill(unsafe.Add(unsafe.Pointer(w.next), -int(s.offset)), w.current)
	if returned = true; err != nil {
`,
		},
	}},
	{"V6: the turn is lost if fill calls Goexit", "internal/refcount/publish.go", []edit{
		{
			`	defer s.turn.Pass() // (V6)
`,
			`	returned := true
	defer func() {
		value := recover()
		if returned || value != nil {
			s.turn.Pass() // (V6)
		}
		if value != nil {
			panic(value)
		}
	}()
`,
		},
		{
			`	if err := fill(unsafe.Add(unsafe.Pointer(w.next), -int(s.offset)), w.current); err != nil {
`,
			`	returned = false
	err = fill(unsafe.Add(unsafe.Pointer(w.next), -int(s.offset)), w.current)
	if returned = true; err != nil {
`,
		},
	}},
	{"V6: the turn is not passed", "internal/refcount/publish.go", []edit{
		{
			`	defer s.turn.Pass() // (V6)`,
			`	// (V6)`,
		},
	}},
	{"T1: the own reference is released after the retirement", "internal/refcount/publish.go", []edit{
		{
			`	w.releaseCurrent()
	if old != nil {
		w.object, w.retirement = old, s.retire(old, op)
	}
	return nil
`,
			`	if old != nil {
		w.object, w.retirement = old, s.retire(old, op)
	}
	w.releaseCurrent()
	return nil
`,
		},
	}},
	{"B1: next is given back through Release", "internal/refcount/publish.go", []edit{
		{
			`		if p.giveBack(next, w.owned) {
			w.object, w.retirement = next, retirement{drained: true}
		}
`,
			`		p.Release(unsafe.Pointer(next), 0)
`,
		},
	}},
	{"B1: given back whatever the generation", "internal/refcount/return.go", []edit{
		{
			`	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)
`,
			`	owned = withPhase(counters.State.Load(), private)
	if !counters.State.CompareAndSwap(owned, withPhase(owned, free)) { // (B1)
`,
		},
	}},
}
