package refcount_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

const (
	places  = 2            // containers, all on one pool
	writers = 2*places + 1 // one for each container, one for all, and a publisher for each container
)

// How often the paths that only a race takes must have been taken before a run
// means anything. Runs go on until they were, so that a slow or busy machine
// takes longer and does not fail: on one CPU a retry needs a reader that the
// kernel interrupts between two given instructions.
const (
	enoughRetries = 25
	enoughLate    = 1000 // releases that find their object replaced, and slow checks
)

// stress is a run: readers of every kind and writers of every kind, who swap
// canaries and watch that what they hold does not change.
type stress struct {
	t          *testing.T
	pool       *poolswap.Pool[canary, *canary]
	containers [places]*poolswap.Container[canary, *canary]

	updated [places][writers]atomic.Uint64 // serial of the last Update that returned

	made, donated, discarded atomic.Uint64
	pairs                    atomic.Uint64 // of Acquire and Release, by fastReaders

	begun  time.Time
	group  sync.WaitGroup
	failed atomic.Bool
	ending sync.Once
	ended  chan struct{}
}

func newStress(t *testing.T, options poolswap.Options[canary]) *stress {
	s := &stress{t: t, ended: make(chan struct{})}
	options.Spares = 4
	options.Discard = s.discard
	s.pool = poolswap.NewPoolWithOptions(s.make, s.reset, options)
	for i := range s.containers {
		s.containers[i] = poolswap.NewEmptyContainer(s.pool)
	}
	return s
}

func (s *stress) make() *canary {
	s.made.Add(1)
	return newCanary()
}

// reset poisons, and refuses some canaries so that new ones come into being at
// every GOMAXPROCS.
func (s *stress) reset(e *canary) bool {
	word := e.words[0]
	if word == poison {
		s.fail("a canary was reset twice")
	}
	if !e.says(word) {
		s.fail("a canary was reset while another wrote on it: %x", e.words)
	}
	e.write(poison)
	return labelOf(word).serial%32 != 0
}

func (s *stress) discard(e *canary) {
	s.discarded.Add(1)
	if !e.says(poison) {
		s.fail("a canary was discarded in use: %x", e.words)
	}
}

// serials are the last ones of each writer.
type serials [writers]uint64

// replaced returns the serials that were published in the container, at least:
// older ones cannot be acquired any more.
func (s *stress) replaced(place int) (r serials) {
	for i := range r {
		r[i] = s.updated[place][i].Load()
	}
	return r
}

// fail reports the first thing that went wrong, and ends the run.
func (s *stress) fail(format string, args ...any) {
	if s.failed.CompareAndSwap(false, true) {
		s.t.Logf("after %v and %d updates:", time.Since(s.begun).Round(time.Millisecond), s.pool.Stats().Updates)
		s.t.Errorf(format, args...)
	}
	s.end()
}

func (s *stress) end() { s.ending.Do(func() { close(s.ended) }) }

// over reports whether everybody is to go home.
func (s *stress) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// start runs f on a goroutine of its own. A panic of the library is a failure
// like any other.
func (s *stress) start(f func()) {
	s.group.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				s.fail("panic: %v\n%s", value, debug.Stack())
			}
		}()
		f()
	})
}

// run has everybody work until duration has passed, the rare paths were taken,
// and the bulk is reached.
func (s *stress) run(duration time.Duration, size bulk) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s.begun = time.Now()
	if !size.alone {
		s.everybody()
	}
	if size != (bulk{}) {
		for place := range places {
			s.start(func() { s.fastReader(place, size.sprint) })
			s.start(func() { s.publisher(place, size.push) })
		}
	}

	limit := s.begun.Add(duration + time.Minute)
	for wake := duration; ; wake = 100 * time.Millisecond {
		select {
		case <-s.ended:
		case <-time.After(wake):
			if s.seldom() && time.Now().Before(limit) || !s.reached(size) {
				continue
			}
			s.end()
		}
		break
	}
	s.group.Wait()
}

// everybody starts one writer for each container, one for all, and one reader
// of each kind for each container.
func (s *stress) everybody() {
	seed := uint64(0)
	start := func(who func(int, *rand.Rand), where int) {
		seed++
		random := rand.New(rand.NewPCG(seed, 0))
		s.start(func() { who(where, random) })
	}
	for writer := range places + 1 {
		start(s.writer, writer)
	}
	for place := range places {
		for _, reader := range []func(int, *rand.Rand){s.shortReader, s.longReader, s.handoff, s.loopReader, s.callbackReader} {
			start(reader, place)
		}
	}
}

// seldom reports whether some rare path was taken too seldom so far.
func (s *stress) seldom() bool {
	stats := s.pool.Stats()
	return stats.Retries < enoughRetries || min(stats.LateReleases, stats.SlowChecks) < enoughLate
}

// settle checks that every canary is where it should be when all have gone
// home.
func (s *stress) settle() {
	t := s.t
	if now := s.pool.Stats(); now.Retired != 0 {
		t.Fatalf("nobody holds anything, and %d canaries have not come back: %+v", now.Retired, now)
	}
	stats := pooltest.Settled(t, s.pool, 0)
	t.Logf("%+v", stats)
	if s.seldom() {
		t.Errorf("too few races to mean anything, want %d retries and %d late releases", enoughRetries, enoughLate)
	}
	if stats.SlowChecks != stats.Retries+stats.LateReleases {
		t.Errorf("%d slow checks, want one for each of %d retries and %d late releases", stats.SlowChecks, stats.Retries, stats.LateReleases)
	}

	current := 0
	for place := range s.containers {
		v := s.enter(place)
		if v.canary == nil {
			continue
		}
		current++
		if refs := s.pool.Refs(v.canary); refs != 1 {
			t.Errorf("%d references to the canary of container %d, want that of this check", refs, place)
		}
		s.release(v, place)
	}
	if stats.Created != s.made.Load() || stats.Adopted != s.donated.Load() || stats.Discarded != s.discarded.Load() || stats.Current != current {
		t.Errorf("%d made, %d donated, %d discarded, %d current", s.made.Load(), s.donated.Load(), s.discarded.Load(), current)
	}
	if stats.Created+stats.Adopted != uint64(stats.Current+stats.Spares)+stats.Discarded {
		t.Errorf("not every canary is current, a spare, or discarded")
	}

	// With the containers empty and the spares dropped, all went through
	// Discard once.
	for _, c := range s.containers {
		c.Update(nil)
	}
	s.pool.Trim()
	if all := s.made.Load() + s.donated.Load(); s.discarded.Load() != all {
		t.Errorf("%d of %d canaries were discarded in the end", s.discarded.Load(), all)
	}
}

// stressDuration is how long each variant runs at least.
func stressDuration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("POOLSWAP_STRESS")
	switch {
	case text != "":
		duration, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("POOLSWAP_STRESS: %v", err)
		}
		return duration
	case testing.Short():
		return 300 * time.Millisecond
	default:
		return time.Second
	}
}

func TestStress(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		s := newStress(t, poolswap.Options[canary]{Portable: options.Portable})
		s.run(stressDuration(t), bulk{})
		if !t.Failed() {
			s.settle()
		}
	})
}
