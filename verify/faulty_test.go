package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
)

// fault is one way in which things go wrong.
type fault int

const (
	readerPanics fault = iota
	readerExits        // runtime.Goexit
	resetPanics
	resetExits
	resetRefuses
	factoryPanics
	factoryExits
	factoryNil
	writerDies    // with an object in hand
	neverReleases // a reader keeps what it acquired
	limitReached
	procsChange // GOMAXPROCS becomes another
	collection  // of garbage
	faultCount
)

func (x fault) String() string {
	return [...]string{
		"a reader panics", "a reader calls Goexit", "reset panics", "reset calls Goexit", "reset refuses",
		"the factory panics", "the factory calls Goexit", "the factory returns nil", "a writer dies",
		"a reader never lets go", "the limit is reached", "GOMAXPROCS changes", "garbage is collected",
	}[x]
}

// tallies counts how often each fault happened.
type tallies [faultCount]atomic.Int64

// missing returns the faults that should have happened and did not.
func (t *tallies) missing(odds map[fault]int) (list []fault) {
	for x := range odds {
		if t[x].Load() == 0 {
			list = append(list, x)
		}
	}
	return list
}

// scenery is what a faulty pool is made for.
type scenery struct {
	odds    map[fault]int // of a hundred opportunities, how many it takes
	maxLive int
	spares  int  // kept by the pool, where it is not one
	discard bool // there is a Discard hook, so nothing is in the overflow
}

// overflows says whether clean objects go where only the garbage collector
// ends them.
func (s scenery) overflows() bool { return !s.discard && s.spares == 0 && s.maxLive == 0 }

// needsCollector says whether objects go that only the garbage collector
// finds.
func (s scenery) needsCollector() bool { return s.overflows() || s.odds[writerDies] > 0 }

// faulty is a pool whose hooks fail, with accounts of its own: every event that
// creates or ends an object is counted here, where it happens.
type faulty struct {
	scenery
	struck *tallies

	pool       *poolswap.Pool[record, *record]
	containers [2]*poolswap.Container[record, *record]

	ids, version              atomic.Int64
	made, adopted, gone, lost atomic.Int64
	dropped                   atomic.Int64 // with a writer that died
	idle                      atomic.Int64 // clean: reset, and not taken since

	mu    sync.Mutex      // guards what follows
	kept  map[*record]int // references that are never released
	wrong []error
}

// fail notes what must not happen. The test looks at it when all is quiet.
func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wrong) < 10 {
		f.wrong = append(f.wrong, err)
	}
}

func newFaulty(what scenery, portable bool, struck *tallies) *faulty {
	f := &faulty{scenery: what, struck: struck, kept: map[*record]int{}}
	options := poolswap.Options[record]{Spares: max(what.spares, 1), MaxLive: what.maxLive, Portable: portable, Report: f.report}
	if what.discard {
		options.Discard = func(obj *record) {
			obj.fill(poisoned)
			f.gone.Add(1)
		}
	}
	f.pool = poolswap.NewPoolWithOptions(f.factory, f.reset, options)
	for c := range f.containers {
		f.adopted.Add(1)
		f.containers[c] = poolswap.NewContainer(f.pool, f.newRecord())
	}
	return f
}

// hits decides whether a fault happens now.
func (f *faulty) hits(x fault) bool {
	if !chance(f.odds[x]) {
		return false
	}
	f.struck[x].Add(1)
	return true
}

// chance is true in so many of a hundred cases.
func chance(percent int) bool { return rand.IntN(100) < percent }

func (f *faulty) factory() *record {
	switch {
	case f.hits(factoryPanics):
		panic(errFactory)
	case f.hits(factoryExits):
		runtime.Goexit()
	case f.hits(factoryNil):
		return nil
	}
	if f.maxLive > 0 {
		f.checkLimit()
	}
	f.made.Add(1)
	return f.newRecord()
}

// checkLimit notes if the object that is being made is one too many. What came
// into being is read first, and what has gone after it, so the difference is
// no more than there were at some moment.
func (f *faulty) checkLimit() {
	created := f.pool.Stats().Created
	after := f.pool.Stats()
	if live := 1 + int(created-after.Discarded-after.Lost); live > f.maxLive {
		f.fail(fmt.Errorf("%d objects are live, the limit is %d", live, f.maxLive))
	}
}

// newRecord returns a record that can be told from every other and is filled.
func (f *faulty) newRecord() *record {
	obj := &record{id: int(f.ids.Add(1))}
	obj.fill(uint64(f.version.Add(1)))
	return obj
}

// reset poisons obj, which must be whole: were it free twice, or still in the
// hands of a writer, it might be poisoned already or half filled.
func (f *faulty) reset(obj *record) bool {
	if _, err := obj.read(); err != nil {
		f.fail(fmt.Errorf("reset of an object that is in use or free already: %w", err))
	}
	obj.fill(poisoned)
	switch {
	case f.hits(resetPanics):
		f.lost.Add(1)
		panic(errFate)
	case f.hits(resetExits):
		f.lost.Add(1)
		runtime.Goexit()
	case f.hits(resetRefuses):
		if !f.discard {
			f.gone.Add(1)
		}
		return false
	}
	f.idle.Add(1)
	return true
}

// take is TryGet, and fills what it gets.
func (f *faulty) take() (*record, error) {
	obj, err := f.pool.TryGet()
	if err == nil {
		if obj.version == poisoned { // it was reset and does not come from the factory
			f.idle.Add(-1)
		}
		obj.fill(uint64(f.version.Add(1)))
	}
	return obj, err
}

func (f *faulty) report(err error) {
	var hook *poolswap.HookPanic
	if !errors.As(err, &hook) || !errors.Is(err, errFate) {
		f.fail(fmt.Errorf("reported: %w", err))
	}
}

// forbearing runs fn and swallows the panics that the faults bring about.
func (f *faulty) forbearing(fn func()) {
	switch out := onAnother(fn); out.panicked {
	case nil, errFate, errFactory, errReader:
	default:
		if text := fmt.Sprint(out.panicked); text != "poolswap: the factory of the pool of *verify_test.record returned nil" {
			f.fail(fmt.Errorf("panic: %s", text))
		}
	}
}
