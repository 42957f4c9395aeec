//go:build poolswapsched

package refcount_test

import (
	"errors"
	"strconv"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/sched"
	"github.com/poolswap/poolswap/internal/stripe"
)

// testObject is the object that the scheduler's scenarios swap. Its fields
// beside the Ref are the test's own notes, written by one coroutine at a time.
type testObject struct {
	poolswap.Ref
	name    string
	in      *watched // where it was published last, nil once reset
	version int      // there, 0 once reset
	value   int      // its content, for those who publish
	offered bool     // an Update of it is under way, or was refused
	holders int
	free    bool // reset ran, and no Get has returned it since
	gone    bool // Discard ran last
}

// harness is a pool with test objects, and the promises about them, watched at every
// step that the scheduler takes.
type harness struct {
	*sched.World
	pool       *poolswap.Pool[testObject, *testObject]
	containers []*watched
	all        []*testObject
	maxLive    int  // 0: no limit
	dropped    int  // discarded
	revived    int  // and brought back
	disowned   int  // adopted by an Update that was then refused
	refused    int  // of rivals
	reported   int  // errors
	failed     int  // calls of Publish
	closed     bool // Close of the pool returned
	unfilled   bool // a Publish may give back an object that its fill never saw
	broken     bool // factory and reset panic; constant while threads run
	traces     bool // versions are traced, and each reference goes back where it was taken
}

// watched is a container and the deeds of its only writer.
type watched struct {
	*poolswap.Container[testObject, *testObject]
	name     string
	begun    int  // version of the last Update that was called
	done     int  // version of the last Update that returned
	maybeNil bool // an Update(nil) or Close was called

	number    uint64         // the highest that a Publish returned
	numbers   map[int]uint64 // of the objects that were seen, by value
	published int            // by Publish
	closed    bool           // Close returned
}

// newHarness makes a harness with containers that each have a current testObject, and
// spares clean ones beside.
func newHarness(w *sched.World, containers, spares int, options poolswap.Options[testObject]) *harness {
	l := &harness{World: w, maxLive: options.MaxLive}
	if options.Spares == 0 {
		options.Spares = 8
	}
	options.Discard = func(s *testObject) {
		l.Writes(l.id())
		l.dropped++
		s.gone = true
	}
	options.Report = func(error) {
		l.Writes(l.id())
		l.reported++
	}
	l.pool = poolswap.NewPoolWithOptions(l.make, l.reset, options)
	poolOf(l.pool).Shared(w.Label)
	for i := range containers {
		c := &watched{Container: poolswap.NewEmptyContainer(l.pool), name: "container" + strconv.Itoa(i), numbers: make(map[int]uint64)}
		w.Name(unsafe.Pointer(slotOf(c.Container)), c.name) // the assembly reads its address
		slotOf(c.Container).Shared(func(at unsafe.Pointer, name string) { w.Label(at, c.name+"."+name) })
		l.containers = append(l.containers, c)
		l.update(c, l.get())
	}
	stock := make([]*testObject, spares)
	for i := range stock {
		stock[i] = l.get()
	}
	for _, s := range stock {
		l.pool.Release(s)
	}
	w.Watch(l.notes)
	return l
}

// mendFence undoes the last failFence, if it is not undone.
var mendFence = func() {}

// failFence makes all heavy fences fail from now on.
func (l *harness) failFence() {
	restore := stripe.FailMembarrier(errors.New("refused"))
	mendFence = func() {
		restore()
		mendFence = func() {}
	}
	l.Watch(func() uint64 { return bit(stripe.Asymmetric()) })
}

// letLimitFall makes a pool with three spares keep as many as the next Get needs.
// How many objects are being filled is no word of the seam, so such a scenario is
// sampled: to Explore, steps in which that changes would be independent.
func (l *harness) letLimitFall() { poolOf(l.pool).LetLimitFall(3, 1) }

// notes stands for all that the promises are judged by, and for the words that the pool
// has under its mutex.
func (l *harness) notes() uint64 {
	current, retired, discarded := poolOf(l.pool).Counted()
	creating, closed := poolOf(l.pool).Creating()
	h := sched.Mix(sched.Mix(current, retired), discarded)
	h = sched.Mix(h, sched.Mix(uint64(creating), bit(closed)))
	h = sched.Mix(sched.Mix(h, uint64(l.refused)), sched.Mix(uint64(l.dropped), uint64(l.reported)))
	h = sched.Mix(h, uint64(l.disowned))
	h = sched.Mix(h, sched.Mix(uint64(l.failed), bit(l.closed)))
	for _, c := range l.containers {
		swaps, closed := slotOf(c.Container).Guarded()
		h = sched.Mix(h, sched.Mix(swaps, bit(closed)))
		h = sched.Mix(sched.Mix(h, uint64(c.begun)), sched.Mix(uint64(c.done), bit(c.maybeNil)))
		h = sched.Mix(sched.Mix(h, c.number), sched.Mix(uint64(c.published), bit(c.closed)))
		for value, number := range c.numbers {
			h += sched.Mix(uint64(value), number)
		}
	}
	for _, s := range l.all {
		h = sched.Mix(sched.Mix(h, s.in.id()), uint64(s.version))
		h = sched.Mix(h, sched.Mix(uint64(s.holders), bit(s.free)))
		h = sched.Mix(h, sched.Mix(uint64(s.value), sched.Mix(bit(s.offered), bit(s.gone))))
		h = sched.Mix(h, objectOf(s).PublishedIn())
		if l.traces && objectOf(s).IsKnown() {
			references, suspects, traced := poolOf(l.pool).Recorded(objectOf(s))
			h = sched.Mix(h, sched.Mix(sched.Mix(uint64(references), uint64(suspects)), bit(traced)))
		}
	}
	if l.traces {
		h = sched.Mix(h, poolOf(l.pool).Tracer())
	}
	poolOf(l.pool).Guarded(func(o *refcount.Object) {
		h = sched.Mix(h, (*testObject)(unsafe.Pointer(o)).id())
	})
	return h
}

// id is a number for s that is the same in every run.
func (s *testObject) id() uint64 {
	if s == nil {
		return 0
	}
	return uint64(s.name[0])
}

// held is a number for its holders.
func (s *testObject) held() uint64 { return sched.Mix(s.id(), 1) }

// id is a number for the harness's own accounts.
func (l *harness) id() uint64 { return sched.Mix(0, 3) }

// id is a number for c that is the same in every run.
func (c *watched) id() uint64 {
	if c == nil {
		return 0
	}
	return sched.Mix(uint64(c.name[len(c.name)-1]), 2)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// make is the factory. It watches that no more exist than may.
func (l *harness) make() *testObject {
	if l.broken {
		panic("factory")
	}
	s := l.literal()
	if s.free = true; l.maxLive > 0 && len(l.all)-l.dropped > l.maxLive {
		l.Fail("%d test objects exist", len(l.all)-l.dropped)
	}
	return s
}

// literal returns a testObject that the pool does not know.
func (l *harness) literal() *testObject {
	l.Writes(l.id())
	if l.closed {
		l.Fail("the factory was called after Close of the pool had returned")
	}
	s := &testObject{name: string(rune('A' + len(l.all)))}
	l.all = append(l.all, s)
	l.Name(unsafe.Pointer(s), s.name)
	l.Label(objectOf(s).SetOnce(), s.name+".counters")
	l.Label(objectOf(s).Next(), s.name+".next")
	l.WhenSet(objectOf(s).SetOnce(), func() { l.label(s) })
	return s
}

// reset watches the first promise: nothing is recycled while it is held.
func (l *harness) reset(s *testObject) bool {
	l.Reads(s.held())
	l.Writes(s.id())
	if s.holders != 0 {
		l.Fail("%s is reset while %d hold it", s.name, s.holders)
	}
	if s.free && !l.unfilled {
		l.Fail("%s is reset twice", s.name)
	}
	if l.broken {
		panic("reset")
	}
	l.recorded(s, true)
	s.in, s.version, s.value, s.free = nil, 0, recycled, true
	return true
}

// recorded watches that each reference to a traced version is recorded as long as it is
// held, and no longer.
func (l *harness) recorded(s *testObject, drained bool) {
	if !l.traces {
		return
	}
	l.Writes(sched.Mix(s.id(), 4))
	references, suspects, traced := poolOf(l.pool).Recorded(objectOf(s))
	switch {
	case !traced:
	case references < s.holders:
		l.Fail("%d hold %s, and %d are recorded", s.holders, s.name, references)
	case drained && references > 0:
		l.Fail("%s has drained, and %d references to it are recorded", s.name, references)
	case suspects > 0:
		l.Fail("%d Releases of %s found no record", suspects, s.name)
	}
}

// get watches the second: a testObject is at most once in the pool.
func (l *harness) get() *testObject {
	s := l.pool.Get()
	l.got(s)
	return s
}

func (l *harness) got(s *testObject) {
	l.Reads(s.held())
	l.Writes(s.id())
	if !s.free || s.holders != 0 {
		l.Fail("Get returned %s, which is in use", s.name)
	}
	if l.Reads(l.id()); l.closed {
		l.Fail("Get returned %s after Close of the pool had returned", s.name)
	}
	s.free = false
}

// label names the words of a testObject that the pool knows.
func (l *harness) label(s *testObject) {
	l.Label(objectOf(s).State(), s.name+".state")
	version, leaving := objectOf(s).Publication()
	l.Label(version, s.name+".version")
	l.Label(leaving, s.name+".leaving")
	stripes, of := objectOf(s).Counters()
	l.Counters(s.name, stripes, of)
}

// update publishes s, or empties c.
func (l *harness) update(c *watched, s *testObject) {
	l.Writes(c.id())
	c.begun++
	version := c.begun
	if s == nil {
		c.maybeNil = true
	} else {
		l.Writes(s.id())
		s.in, s.version = c, version
	}
	c.Update(s)
	l.Writes(c.id())
	c.done = max(c.done, version)
}

// acquire watches the third: the acquired object was current during the call.
func (l *harness) acquire(c *watched) *testObject {
	done := c.done
	l.Reads(c.id())
	l.Know(uint64(done))
	s := c.Acquire()
	l.judge(c, s, done)
	return s
}

func (l *harness) judge(c *watched, s *testObject, done int) {
	l.Reads(c.id())
	l.Reads(s.id())
	l.Adds(s.held())
	switch {
	case s == nil:
		if !c.maybeNil {
			l.Fail("Acquire of a container that was never empty returned nil")
		}
	case s.free:
		l.Fail("Acquire returned %s, which is in the pool", s.name)
	case s.in != c:
		l.Fail("Acquire of %s returned %s of another container", c.name, s.name)
	case s.version < done:
		l.Fail("Acquire returned version %d after the Update of version %d had returned", s.version, done)
	}
	if s != nil {
		s.holders++
		l.recorded(s, false)
	}
}

func (l *harness) release(c *watched, s *testObject) {
	if s == nil {
		return
	}
	l.letGo(s)
	c.Release(s)
}

// letGo watches s to the end of the while in which it is held.
func (l *harness) letGo(s *testObject) {
	l.Yield()
	l.Reads(s.id())
	l.Adds(s.held())
	if s.free {
		l.Fail("%s was recycled under its reader", s.name)
	}
	l.recorded(s, false)
	s.holders--
}

// check watches the last: when all is done every testObject is where it should
// be, once.
func (l *harness) check() {
	current := 0
	for _, c := range l.containers {
		s := c.Acquire()
		if s == nil {
			continue
		}
		current++
		if refs := l.pool.Refs(s); refs != 1 {
			l.Fail("%s has %d references in the end, want the check's own", s.name, refs)
		}
		c.Release(s)
	}
	stats := l.pool.Stats()
	live := len(l.all) - l.dropped + l.revived - int(stats.Lost)
	if stats.Live != live || stats.Retired != 0 || stats.PendingReset != 0 ||
		stats.Current != current || stats.Spares != live-current || int(stats.Discarded) != l.dropped+l.disowned {
		l.Fail("%d test objects, %d current, and in the end %+v", live, current, stats)
	}
	if stats.Spares > stats.SpareLimit { // the limit falls in a Get, after which something is kept
		l.Fail("%d spares in the end, and the limit is %d", stats.Spares, stats.SpareLimit)
	}
	if int(stats.FailedPublishes) != l.failed {
		l.Fail("%d calls of Publish failed, and the stats say %d", l.failed, stats.FailedPublishes)
	}
	if private := poolOf(l.pool).Private(); private != 0 {
		l.Fail("%d test objects are private in the end", private)
	}
	for range stats.Spares {
		l.get() // fails for one that is there twice
	}
}
