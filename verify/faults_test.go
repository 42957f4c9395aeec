package verify_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
)

// scenarios are the faults one by one, and all of them together.
var scenarios = []struct {
	name string
	scenario
}{
	{"nothing goes wrong", scenario{discard: true}},
	{"readers panic or call Goexit while they hold an object", scenario{
		discard: true,
		odds:    map[fault]int{readerPanics: 20, readerExits: 20},
	}},
	{"reset panics, calls Goexit or refuses", scenario{
		discard: true,
		odds:    map[fault]int{resetPanics: 10, resetExits: 10, resetRefuses: 10},
	}},
	{"the factory panics, calls Goexit or returns nil", scenario{
		discard: true,
		odds:    map[fault]int{factoryPanics: 20, factoryExits: 20, factoryNil: 20, resetRefuses: 50},
	}},
	{"writers die with an object in hand", scenario{
		discard: true,
		odds:    map[fault]int{writerDies: 5},
	}},
	{"GOMAXPROCS changes all the time", scenario{
		discard: true,
		odds:    map[fault]int{procsChange: 100},
	}},
	{"the garbage collector runs all the time", scenario{
		spares: 1 << 12, // more than objects come into being, so it finds nothing
		odds:   map[fault]int{collection: 100, resetRefuses: 5},
	}},
	{"the garbage collector runs all the time and the surplus overflows", scenario{
		odds: map[fault]int{collection: 100, resetRefuses: 5},
	}},
	{"readers never release", scenario{
		discard: true,
		odds:    map[fault]int{neverReleases: 20},
	}},
	{"readers never release and the pool has a limit", scenario{
		discard: true, maxLive: 6,
		odds: map[fault]int{neverReleases: 20, limitReached: 100},
	}},
	{"everything goes wrong", scenario{
		discard: true,
		odds: map[fault]int{
			readerPanics: 5, readerExits: 5, resetPanics: 5, resetExits: 5, resetRefuses: 5,
			factoryPanics: 10, factoryExits: 10, factoryNil: 10, writerDies: 2, neverReleases: 2,
			procsChange: 100, collection: 100,
		},
	}},
}

// TestFaultsCostNothingButWhatTheyHit checks that no reader sees a recycled
// object, and that every object is accounted for afterwards.
func TestFaultsCostNothingButWhatTheyHit(t *testing.T) {
	forEachMode(t, func(t *testing.T, portable bool) {
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				if widened && s.needsCollector() {
					t.Skip("the widened build has no cleanups")
				}
				widen(t)
				withProcs(t, 8) // more threads than CPUs, so the kernel interrupts them anywhere
				var struck faultCounts
				once := func() {
					f := newFaulty(s.scenario, portable, &struck)
					f.work(6, 2, widenedOr(2000, 10000))
					f.starve(t)
					f.account(t)
					f.endAll(t)
					if t.Failed() {
						t.FailNow()
					}
				}
				for range rounds(5) {
					once()
				}
				// On a busy machine a fault may not have happened yet.
				for more := 20; more > 0 && len(struck.missing(s.odds)) > 0; more-- {
					once()
				}
				if missing := struck.missing(s.odds); len(missing) > 0 {
					t.Errorf("these faults never happened, so they were not tested: %v", missing)
				}
				for x := range s.odds {
					t.Logf("%s: %d times", x, struck[x].Load())
				}
			})
		}
	})
}

// ledger is the part of Stats that the test counts itself.
type ledger struct {
	created, adopted, discarded, lost, collected uint64
	current, retired, pendingReset               int
}

func (f *faulty) ledger() (want ledger) {
	want = ledger{
		created: uint64(f.made.Load()), adopted: uint64(f.adopted.Load()),
		discarded: uint64(f.gone.Load()), lost: uint64(f.lost.Load()), collected: uint64(f.dropped.Load()),
	}
	shown := map[*record]bool{}
	for _, c := range f.containers {
		c.WithAcquire(func(obj *record) {
			if obj != nil {
				shown[obj] = true
				want.current++
			}
		})
	}
	for obj := range f.kept {
		if !shown[obj] {
			shown[obj] = true
			want.retired++
		}
	}
	return want
}

// settled waits until the sweeper and the garbage collector are done, and fails
// the test unless every object is then where the ledger says.
func (f *faulty) settled(t *testing.T) poolswap.Stats {
	t.Helper()
	if f.odds[procsChange] > 0 {
		// The runtime (Go 1.26) keeps the last cleanups of a P that is taken
		// away until there is such a P again, and Stats.Collected with them.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(mostProcs))
	}
	var s poolswap.Stats
	var got, want ledger
	eventually(func() bool {
		if f.needsCollector() {
			runtime.GC()
		}
		s, want = f.pool.Stats(), f.ledger()
		got = ledger{s.Created, s.Adopted, s.Discarded, s.Lost, s.Collected, s.Current, s.Retired, s.PendingReset}
		if f.overflows() { // every clean object that is not a spare was in the overflow
			want.collected += uint64(max(0, f.idle.Load()-int64(s.Spares)))
		}
		return got == want && s.Live == s.Current+s.Retired+s.Spares
	})
	if got != want {
		t.Errorf("Stats says\n%+v, the ledger says\n%+v", got, want)
	}
	if place := s.Current + s.Retired + s.PendingReset + s.Spares; s.Live != place || int(s.Created+s.Adopted-s.Discarded-s.Lost-s.Collected) != place {
		t.Errorf("created + adopted is not current + spares + pending reset + retired + discarded + lost + collected: %+v", s)
	}
	if s.Spares > max(f.spares, 1) || s.Leaked > 0 || s.Abandoned > 0 {
		t.Errorf("more spares than are kept, a leak, or a failed fence: %+v", s)
	}
	return s
}

// account checks the accounts while some references are still held.
func (f *faulty) account(t *testing.T) {
	t.Helper()
	f.settled(t)
	for obj, want := range f.kept {
		f.look(obj)
		if got := f.pool.Refs(obj); got != want {
			t.Errorf("record %d has %d references, want %d", obj.id, got, want)
		}
	}
	for _, err := range f.wrong {
		t.Error(err)
	}
}

// endAll releases everything. No object may be left then.
func (f *faulty) endAll(t *testing.T) {
	t.Helper()
	for obj, refs := range f.kept {
		for range refs {
			f.recoverExpected(func() { f.pool.Release(obj) })
		}
	}
	clear(f.kept)
	for _, c := range f.containers {
		f.recoverExpected(func() { c.Update(nil) })
	}
	f.settled(t)
	f.pool.Trim()
	if s := f.pool.Stats(); s.Live != 0 || s.Spares != 0 || s.Drained != s.Updates {
		t.Errorf("objects are left after every release and a Trim: %+v", s)
	}
}
