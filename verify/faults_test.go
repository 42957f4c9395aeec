package verify_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
)

// sceneries are what goes wrong, one after the other and all together.
var sceneries = []struct {
	name string
	scenery
}{
	{"nothing goes wrong", scenery{discard: true}},
	{"readers panic or call Goexit while they hold", scenery{
		discard: true,
		odds:    map[fault]int{readerPanics: 20, readerExits: 20},
	}},
	{"reset panics, calls Goexit or refuses", scenery{
		discard: true,
		odds:    map[fault]int{resetPanics: 10, resetExits: 10, resetRefuses: 10},
	}},
	{"the factory panics, calls Goexit or returns nil", scenery{
		discard: true,
		odds:    map[fault]int{factoryPanics: 20, factoryExits: 20, factoryNil: 20, resetRefuses: 50},
	}},
	{"writers die with an object in hand", scenery{
		discard: true,
		odds:    map[fault]int{writerDies: 5},
	}},
	{"GOMAXPROCS changes all the time", scenery{
		discard: true,
		odds:    map[fault]int{procsChange: 100},
	}},
	{"the garbage collector runs all the time", scenery{
		spares: 1 << 12, // more than objects come into being, so it finds nothing
		odds:   map[fault]int{collection: 100, resetRefuses: 5},
	}},
	{"the garbage collector runs all the time and the surplus overflows", scenery{
		odds: map[fault]int{collection: 100, resetRefuses: 5},
	}},
	{"readers never let go", scenery{
		discard: true,
		odds:    map[fault]int{neverReleases: 20},
	}},
	{"readers never let go and the pool has a limit", scenery{
		discard: true, maxLive: 6,
		odds: map[fault]int{neverReleases: 20, limitReached: 100},
	}},
	{"everything goes wrong", scenery{
		discard: true,
		odds: map[fault]int{
			readerPanics: 5, readerExits: 5, resetPanics: 5, resetExits: 5, resetRefuses: 5,
			factoryPanics: 10, factoryExits: 10, factoryNil: 10, writerDies: 2, neverReleases: 2,
			procsChange: 100, collection: 100,
		},
	}},
}

// Whatever goes wrong, no reader sees a recycled object, and afterwards every
// object is accounted for.
func TestFaultsCostNothingButWhatTheyHit(t *testing.T) {
	bothWays(t, func(t *testing.T, portable bool) {
		for _, s := range sceneries {
			t.Run(s.name, func(t *testing.T) {
				if widened && s.needsCollector() {
					t.Skip("the widened build has no cleanups")
				}
				widen(t)
				withProcs(t, 8) // more threads than processors: the kernel interrupts them anywhere
				var struck tallies
				once := func() {
					f := newFaulty(s.scenery, portable, &struck)
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
				// On a busy machine a fault may still have had no opportunity.
				for more := 20; more > 0 && len(struck.missing(s.odds)) > 0; more-- {
					once()
				}
				if missing := struck.missing(s.odds); len(missing) > 0 {
					t.Errorf("never happened, so nothing was tested: %v", missing)
				}
				for x := range s.odds {
					t.Logf("%s: %d times", x, struck[x].Load())
				}
			})
		}
	})
}

// ledger is the part of the accounts that the test keeps itself.
type ledger struct {
	created, adopted, discarded, lost, collected uint64
	current, retired, awaiting                   int
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

// settled waits until the sweeper and the garbage collector are through, and
// fails the test unless then every object is where the ledger says.
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
		got = ledger{s.Created, s.Adopted, s.Discarded, s.Lost, s.Collected, s.Current, s.Retired, s.Awaiting}
		if f.overflows() { // and every clean object that is no spare was in the overflow
			want.collected += uint64(max(0, f.idle.Load()-int64(s.Spares)))
		}
		return got == want && s.Live == s.Current+s.Retired+s.Spares
	})
	if got != want {
		t.Errorf("the accounts are\n%+v, the ledger says\n%+v", got, want)
	}
	if place := s.Current + s.Retired + s.Awaiting + s.Spares; s.Live != place || int(s.Created+s.Adopted-s.Discarded-s.Lost-s.Collected) != place {
		t.Errorf("created + adopted = current + spares + awaiting + retired + discarded + lost + collected does not hold: %+v", s)
	}
	if s.Spares > max(f.spares, 1) || s.Leaked > 0 || s.Abandoned > 0 {
		t.Errorf("more spares than are kept, a leak, or a failed fence: %+v", s)
	}
	return s
}

// account checks the books while some references are still held.
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

// endAll lets go of everything; then nothing may be left.
func (f *faulty) endAll(t *testing.T) {
	t.Helper()
	for obj, refs := range f.kept {
		for range refs {
			f.forbearing(func() { f.pool.Release(obj) })
		}
	}
	clear(f.kept)
	for _, c := range f.containers {
		f.forbearing(func() { c.Update(nil) })
	}
	f.settled(t)
	f.pool.Trim()
	if s := f.pool.Stats(); s.Live != 0 || s.Spares != 0 || s.Drained != s.Updates {
		t.Errorf("objects are left when all have been given back and the spares are trimmed: %+v", s)
	}
}
