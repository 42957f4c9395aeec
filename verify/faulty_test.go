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

// fault is something that goes wrong.
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
	neverReleases // a reader keeps its reference for good
	limitReached
	procsChange // GOMAXPROCS becomes another
	collection  // of garbage
	faultCount
)

func (x fault) String() string {
	return [...]string{
		"a reader panics", "a reader calls Goexit", "reset panics", "reset calls Goexit", "reset refuses",
		"the factory panics", "the factory calls Goexit", "the factory returns nil", "a writer dies",
		"a reader never releases", "the limit is reached", "GOMAXPROCS changes", "garbage is collected",
	}[x]
}

// faultCounts counts how often each fault happened.
type faultCounts [faultCount]atomic.Int64

// missing returns the faults that should have happened and did not.
func (t *faultCounts) missing(odds map[fault]int) (list []fault) {
	for x := range odds {
		if t[x].Load() == 0 {
			list = append(list, x)
		}
	}
	return list
}

// scenario is which faults happen, and the options of the pool.
type scenario struct {
	odds    map[fault]int // how often each fault happens, in percent
	maxLive int
	spares  int  // Options.Spares; 0 stands for 1
	discard bool // with a Discard hook, so the pool has no overflow
}

// overflows reports whether clean objects go to the overflow, where only the
// garbage collector removes them.
func (s scenario) overflows() bool { return !s.discard && s.spares == 0 && s.maxLive == 0 }

// needsCollector reports whether some objects are only found by the garbage
// collector.
func (s scenario) needsCollector() bool { return s.overflows() || s.odds[writerDies] > 0 }

// faulty is a pool whose hooks fail. It counts every event that creates or ends
// an object where the event happens.
type faulty struct {
	scenario
	struck *faultCounts

	pool       *poolswap.Pool[record, *record]
	containers [2]*poolswap.Container[record, *record]

	ids, version              atomic.Int64
	made, adopted, gone, lost atomic.Int64
	dropped                   atomic.Int64 // in the hand of a writer that died
	idle                      atomic.Int64 // clean: reset and not taken since

	mu    sync.Mutex      // guards what follows
	kept  map[*record]int // references that are never released
	wrong []error
}

// fail records an error. account reports it.
func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wrong) < 10 {
		f.wrong = append(f.wrong, err)
	}
}

func newFaulty(what scenario, portable bool, struck *faultCounts) *faulty {
	f := &faulty{scenario: what, struck: struck, kept: map[*record]int{}}
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

// chance is true with that probability.
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

// checkLimit fails if the object being made is one too many. It reads Created
// before Discarded and Lost, so the difference is at most the number of objects
// that were live at some moment.
func (f *faulty) checkLimit() {
	created := f.pool.Stats().Created
	after := f.pool.Stats()
	if live := 1 + int(created-after.Discarded-after.Lost); live > f.maxLive {
		f.fail(fmt.Errorf("%d objects are live, the limit is %d", live, f.maxLive))
	}
}

// newRecord returns a filled record with a new id.
func (f *faulty) newRecord() *record {
	obj := &record{id: int(f.ids.Add(1))}
	obj.fill(uint64(f.version.Add(1)))
	return obj
}

// reset poisons obj. obj must be whole: if it were free twice or still in use by
// a writer, it could be poisoned already or half filled.
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
		if obj.version == poisoned { // a recycled object
			f.idle.Add(-1)
		}
		obj.fill(uint64(f.version.Add(1)))
	}
	return obj, err
}

func (f *faulty) report(err error) {
	var hook *poolswap.HookPanicError
	if !errors.As(err, &hook) || !errors.Is(err, errFate) {
		f.fail(fmt.Errorf("reported: %w", err))
	}
}

// recoverExpected runs fn and recovers the panics that the faults cause.
func (f *faulty) recoverExpected(fn func()) {
	switch out := onAnother(fn); out.panicked {
	case nil, errFate, errFactory, errReader:
	default:
		if text := fmt.Sprint(out.panicked); text != "poolswap: the factory of the pool of *verify_test.record returned nil" {
			f.fail(fmt.Errorf("panic: %s", text))
		}
	}
}
