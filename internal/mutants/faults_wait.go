package main

// waitFaults are planted where goroutines wait: for a version, for objects that
// come back, and for the end of containers and pools.
var waitFaults = []fault{
	{"W1: Wait looks, and then asks", "internal/refcount/wait.go", []edit{
		{
			`	signal := s.waited.next()
`,
			`	signal := seam.NewSignal()
`,
		},
		{
			`		if err := seam.Wait(`,
			`		signal = s.waited.next()
		if err := seam.Wait(`,
		},
	}},
	{"W1: Changed looks, and then asks", "internal/refcount/wait.go", []edit{
		{
			`	signal := s.changed.next()
	if version, closed := s.snapshot(); version > after || closed {
		return closedChannel
	}
	return signal.Done()
`,
			`	return s.changed.next().Done()
`,
		},
	}},
	{"W1: Drain and Close look, and then ask", "internal/refcount/close.go", []edit{
		{
			`	signal := p.returned.next()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if done()`,
			`	signal := seam.NewSignal()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if done()`,
		},
		{
			`		if err := seam.Wait(`,
			`		signal = p.returned.next()
		if err := seam.Wait(`,
		},
	}},
	{"W1: a Publish at the limit looks, and then asks", "internal/refcount/publish.go", []edit{
		{
			`	signal := p.returned.next()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if next, err`,
			`	signal := seam.NewSignal()
	defer func() { p.returned.wakeIf(signal) }()
	for {
		if next, err`,
		},
		{
			`		ended := seam.Wait(`,
			`		signal = p.returned.next()
		ended := seam.Wait(`,
		},
	}},
	{"W2: a Wait that ends leaves its signal", "internal/refcount/wait.go", []edit{
		{
			`	defer func() { s.waited.wakeIf(signal) }()
`,
			``,
		},
	}},
	{"W2: Drain and Close leave their signal", "internal/refcount/close.go", []edit{
		{
			`	defer func() { p.returned.wakeIf(signal) }()
	for {
		if done()`,
			`	for {
		if done()`,
		},
	}},
	{"W2: a signal is taken away, and others that wait for it stay asleep", "internal/refcount/wakeup.go", []edit{
		{
			`	if w.signal.CompareAndSwap(signal, nil) { // (W2)
		signal.Fire()
	}
`,
			`	w.signal.CompareAndSwap(signal, nil) // (W2)
`,
		},
	}},
	{"W2: a Wait that ends wakes the channels of Changed", "internal/refcount/wait.go", []edit{
		{
			`	signal := s.changed.next()
`,
			`	signal := s.waited.next()
`,
		},
	}},
	{"K1: what waits for a clean object is not woken", "internal/refcount/return.go", []edit{
		{
			`	case kept:
		p.returned.wake()
`,
			`	case kept:
`,
		},
	}},
	{"G4: an Update under way is counted as two current objects", "internal/refcount/update.go", []edit{
		{
			`	old = s.swap(next, version)
`,
			`	s.pool.stats.objects.change(0, 1)
	old = s.swap(next, version)
	s.pool.stats.objects.change(0, -1)
`,
		},
	}},
	{"G4 after W2: a publisher at the limit is woken before the count", "internal/refcount/update.go", []edit{
		{
			`	s.pool.stats.objects.change(0, change) // (G4)
	if change > 0 {
		s.pool.returned.wake()
	}
`,
			`	if change > 0 {
		s.pool.returned.wake()
	}
	s.pool.stats.objects.change(0, change) // (G4)
`,
		},
	}},
	{"G4: an emptied container counts as filled", "internal/refcount/update.go", []edit{
		{
			`	if change == 0 {
`,
			`	if change <= 0 {
`,
		},
	}},
	{"G4: a current object is never counted", "internal/refcount/update.go", []edit{
		{
			`	if change > 0 {
`,
			`	s.pool.stats.objects.change(0, -change)
	if change > 0 {
`,
		},
	}},
	{"D1 after U2: marked after the swap", "internal/refcount/update.go", []edit{
		{
			`	s.count(old, next)
`,
			``,
		},
		{
			`	s.swaps++
`,
			`	s.swaps++
	s.count(old, next)
`,
		},
	}},
	{"D1: Drain waits for what leaves later", "internal/refcount/close.go", []edit{
		{
			`e.mark != 0 && e.mark <= last &&`,
			`e.mark != 0 && (true || e.mark <= last) &&`,
		},
	}},
	{"D2: not marked while it awaits its reset", "internal/refcount/sweep.go", []edit{
		{
			`	p.free.pushDirty(obj)
`,
			`	counters := obj.counters.Load()
	endReturn(counters, counters.Publication.Leaving.Load())
	p.free.pushDirty(obj)
`,
		},
	}},
	{"D3: closing ends no wait of a publisher", "internal/refcount/close.go", []edit{
		{
			`	s.closing.Fire()
`,
			``,
		},
	}},
	{"D3: closing wakes no waiter", "internal/refcount/close.go", []edit{
		{
			`	s.wake()
`,
			``,
		},
	}},
	{"D3: Close waits for an object of another container", "internal/refcount/slot.go", []edit{
		{
			`	l.last++
	s.id = l.last
`,
			`	l.last = 1
	s.id = l.last
`,
		},
	}},
	{"D4: an object is made whether the pool is closed or not", "internal/refcount/freelist.go", []edit{
		{
			`	if !l.closed {
		l.creating++
	}
	return !l.closed`,
			`	l.creating++
	return true`,
		},
	}},
	{"D4: Close does not wait for an object being made", "internal/refcount/freelist.go", []edit{
		{
			`return l.creating > 0`,
			`return l.creating < 0`,
		},
	}},
	{"D4: the clean objects go after the wait alone", "internal/refcount/close.go", []edit{
		{
			`	p.Trim()

	// An object that`,
			`	// An object that`,
		},
	}},
	{"H1: Retain counts nothing", "internal/refcount/read.go", []edit{
		{
			`	counters.CountAcquired(k) // (H1)`,
			`	_ = k // (H1)`,
		},
	}},
	{"H1: Retain counts a release", "internal/refcount/read.go", []edit{
		{
			`	counters.CountAcquired(k) // (H1)`,
			`	counters.CountReleased(k) // (H1)`,
		},
	}},
	{"G3: ErrLimit at once below the limit", "internal/refcount/publish.go", []edit{
		{
			`return live >= p.MaxLive && live <= current`,
			`return live <= current`,
		},
	}},
	{"Versions goes on from the version it waited for", "versions.go", []edit{
		{
			`			if _, err := c.Wait(ctx, after); err != nil {
				return
			}
`,
			`			var err error
			if after, err = c.Wait(ctx, after); err != nil {
				return
			}
`,
		},
		{
			`					after = c.VersionOf(obj)
					more = yield(after, obj)`,
			`					more = yield(c.VersionOf(obj), obj)`,
		},
	}},
	{"Stats: retired is loaded before drained", "internal/refcount/stats.go", []edit{
		{
			`	live, current := c.objects.load()
`,
			`	before := c.retired.Load()
	live, current := c.objects.load()
`,
		},
		{
			`int(c.retired.Load() - s.Drained)`,
			`int(before - s.Drained)`,
		},
	}},
	{"W2: the signal that is fired stays", "internal/refcount/wakeup.go", []edit{
		{
			`signal := w.signal.Swap(nil); signal`,
			`signal := w.signal.Load(); signal`,
		},
	}},
	{"D4: Get returns an object of a pool that closed during its reset", "internal/refcount/get.go", []edit{
		{
			`		if !p.free.beginReset(obj) {
			p.drop(obj)
			return nil, ErrClosed
		}
`,
			`		p.free.mu.Lock()
		p.free.begin(obj)
		p.free.mu.Unlock()
`,
		},
	}},
	{"D4: Get keeps an object of a pool that closed during its reset", "internal/refcount/get.go", []edit{
		{
			`			p.drop(obj)
			return nil, ErrClosed
`,
			`			return nil, ErrClosed
`,
		},
	}},
	{"L2: what waits for room is not woken by an object that is lost", "internal/refcount/live.go", []edit{
		{
			`	p.stats.lost.Add(1)
	p.removeLive()
`,
			`	p.stats.lost.Add(1)
	p.stats.objects.change(-1, 0)
`,
		},
	}},
	{"Versions yields the number of the container", "versions.go", []edit{
		{
			`more = yield(after, obj)`,
			`more = yield(c.Version(), obj)`,
		},
	}},
	{"D3: Changed looks for Close before it asks alone", "internal/refcount/wait.go", []edit{
		{
			`	signal := s.changed.next()
	if version, closed := s.snapshot(); version > after || closed {
`,
			`	signal := s.changed.next()
	if version, _ := s.snapshot(); version > after {
`,
		},
	}},
	{"D4: Close is woken before a factory that panics counts as ended", "internal/refcount/get.go", []edit{
		{
			`	made := false
	defer func() {
`,
			`	made, began := false, false
	defer func() {
		if began {
			p.free.endCreating(made)
		}
	}()
	defer func() {
`,
		},
		{
			`	defer func() { p.free.endCreating(made) }()
`,
			`	began = true
`,
		},
	}},
	{"L3: Drain is woken before the object is lost", "internal/refcount/return.go", []edit{
		{
			`			counters.State.Store(withPhase(counters.State.Load(), lost)) // (L3)
			p.stats.lost.Add(1)
			p.removeLive()
`,
			`			p.stats.lost.Add(1)
			p.removeLive()
			counters.State.Store(withPhase(counters.State.Load(), lost)) // (L3)
`,
		},
	}},
}
