package refcount_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

const (
	containerCount = 2                    // all on one pool
	writers        = 2*containerCount + 1 // one for each container, one for all, and a publisher for each container
)

// A run continues until the paths that only a race takes were taken this often,
// or it would prove little. A slow or busy machine takes longer and does not
// fail: on one CPU a retry needs a reader that the kernel interrupts between
// two given instructions.
const (
	enoughRetries = 25
	enoughLate    = 1000 // releases of a replaced object, and slow checks
)

// stress is a run: readers and writers of every kind swap canaries and check
// that a canary does not change while they hold it.
type stress struct {
	t          *testing.T
	pool       *poolswap.Pool[canary, *canary]
	containers [containerCount]*poolswap.Container[canary, *canary]

	updated [containerCount][writers]atomic.Uint64 // serial of the last Update that returned

	made, adopted, discarded atomic.Uint64
	pairs                    atomic.Uint64 // of Acquire and Release, by fastReaders

	begun time.Time
	*crew
}

func newStress(t *testing.T, options poolswap.Options[canary]) *stress {
	s := &stress{t: t, crew: newCrew(t)}
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
	return newCanary(poison)
}

// reset poisons a canary. It refuses some, so that new ones are made at every
// GOMAXPROCS.
func (s *stress) reset(obj *canary) bool {
	word := obj.words[0]
	if word == poison {
		s.fail("a canary was reset twice")
	}
	if !obj.holds(word) {
		s.fail("a canary was reset while another goroutine wrote to it: %x", obj.words)
	}
	obj.fill(poison)
	return labelOf(word).serial%32 != 0
}

func (s *stress) discard(obj *canary) {
	s.discarded.Add(1)
	if !obj.holds(poison) {
		s.fail("a canary was discarded while in use: %x", obj.words)
	}
}

// serials has the serial of a publication for each writer.
type serials [writers]uint64

// published returns the serials of the last Updates of the container that
// returned. No reader can acquire an older one any more.
func (s *stress) published(container int) (r serials) {
	for i := range r {
		r[i] = s.updated[container][i].Load()
	}
	return r
}

// run lets the workers run until duration has passed, the rare paths were taken
// often enough, and size is reached.
func (s *stress) run(duration time.Duration, size bulk) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s.begun = time.Now()
	if !size.only {
		s.startWorkers()
	}
	if size != (bulk{}) {
		for container := range containerCount {
			s.start(func() { s.fastReader(container, size.readTurn) })
			s.start(func() { s.publisher(container, size.publishTurn) })
		}
	}

	limit := s.begun.Add(duration + time.Minute)
	for wake := duration; ; wake = 100 * time.Millisecond {
		select {
		case <-s.ended:
		case <-time.After(wake):
			if s.needsMoreRaces() && time.Now().Before(limit) || !s.reached(size) {
				continue
			}
			s.end()
		}
		break
	}
	s.group.Wait()
}

// startWorkers starts one writer for each container, one for all, and one
// reader of each kind for each container.
func (s *stress) startWorkers() {
	seed := uint64(0)
	start := func(work func(int, *rand.Rand), n int) {
		seed++
		random := rand.New(rand.NewPCG(seed, 0))
		s.start(func() { work(n, random) })
	}
	for writer := range containerCount + 1 {
		start(s.writer, writer)
	}
	for container := range containerCount {
		for _, reader := range []func(int, *rand.Rand){s.shortReader, s.longReader, s.handoff, s.loopReader, s.callbackReader} {
			start(reader, container)
		}
	}
}

// needsMoreRaces reports whether some rare path was not taken often enough.
func (s *stress) needsMoreRaces() bool {
	stats := s.pool.Stats()
	return stats.Reads.Retries < enoughRetries || min(stats.Reads.LateReleases, stats.Reads.SlowChecks) < enoughLate
}

// settle checks, after the run, that every canary is where it should be.
func (s *stress) settle() {
	t := s.t
	if now := s.pool.Stats(); now.Retired != 0 {
		t.Fatalf("all readers have released, but %d canaries are retired: %+v", now.Retired, now)
	}
	stats := pooltest.Settled(t, s.pool, 0)
	t.Logf("%+v", stats)
	if s.needsMoreRaces() {
		t.Errorf("too few races, want %d retries and %d late releases", enoughRetries, enoughLate)
	}
	if stats.Reads.SlowChecks != stats.Reads.Retries+stats.Reads.LateReleases {
		t.Errorf("%d slow checks, want one for each of %d retries and %d late releases", stats.Reads.SlowChecks, stats.Reads.Retries, stats.Reads.LateReleases)
	}

	current := 0
	for container := range s.containers {
		ref := s.acquire(container)
		if ref.canary == nil {
			continue
		}
		current++
		if refs := s.pool.Refs(ref.canary); refs != 1 {
			t.Errorf("%d references to the canary of container %d, want only that of this check", refs, container)
		}
		s.release(ref, container)
	}
	if stats.Created != s.made.Load() || stats.Adopted != s.adopted.Load() || stats.Discarded != s.discarded.Load() || stats.Current != current {
		t.Errorf("%d made, %d adopted, %d discarded, %d current, but the stats differ", s.made.Load(), s.adopted.Load(), s.discarded.Load(), current)
	}
	if stats.Created+stats.Adopted != uint64(stats.Current+stats.Spares)+stats.Discarded {
		t.Errorf("not every canary is current, a spare, or discarded")
	}

	// Once the containers are empty and the spares are dropped, every canary has
	// been discarded once.
	for _, c := range s.containers {
		c.Update(nil)
	}
	s.pool.Trim()
	if all := s.made.Load() + s.adopted.Load(); s.discarded.Load() != all {
		t.Errorf("%d of %d canaries were discarded in the end", s.discarded.Load(), all)
	}
}

// stressDuration returns the minimal duration of each run.
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

// bulk adds workers that only read or only publish to a run, and makes it last
// until they have done this much. The zero bulk adds none.
type bulk struct {
	pairs   uint64 // of Acquire and Release, by fastReaders
	updates uint64
	retries uint64 // failed validations

	readTurn, publishTurn int  // pairs and updates between two yields
	only                  bool // run no other workers
}

// longTurns take about as long for fastReaders as for publishers, so that both
// get an equal share of the processors. The other workers yield more often, so
// most of the time goes to these.
var longTurns = bulk{readTurn: 1 << 13, publishTurn: 1 << 8}

// reached reports whether the run has done as much as size demands.
func (s *stress) reached(size bulk) bool {
	stats := s.pool.Stats()
	return s.pairs.Load() >= size.pairs && stats.Updates >= size.updates && stats.Reads.Retries >= size.retries
}

// fastReader only acquires and releases. It reads the first word as early as it
// may, and the last word as late as it may.
func (s *stress) fastReader(container, turn int) {
	c := s.containers[container]
	for !s.over() {
		pairs := uint64(0)
		for range turn {
			obj := c.Acquire()
			if obj == nil {
				continue
			}
			first := obj.words[0]
			if last := obj.words[len(obj.words)-1]; first != last || labelOf(first).container != container {
				s.fail("acquired a canary of container %d that is being written: %x", container, obj.words)
			}
			c.Release(obj)
			pairs++
		}
		s.pairs.Add(pairs)
		runtime.Gosched()
	}
}

// publisher only publishes.
func (s *stress) publisher(container, turn int) {
	writer := containerCount + 1 + container
	serial := uint64(0)
	for !s.over() {
		for range turn {
			serial++
			s.containers[container].Update(s.next(label{writer, container, serial}))
			s.updated[container][writer].Store(serial)
		}
		runtime.Gosched()
	}
}

// bulkSize returns turns with the pairs and updates to reach. The environment
// overrides them.
func bulkSize(t *testing.T, turns bulk, pairs, updates uint64) bulk {
	t.Helper()
	size := turns
	size.pairs, size.updates = pairs, updates
	if testing.Short() {
		size.pairs, size.updates = pairs/10, updates/10
	}
	for name, into := range map[string]*uint64{
		"POOLSWAP_STRESS_PAIRS":   &size.pairs,
		"POOLSWAP_STRESS_UPDATES": &size.updates,
		"POOLSWAP_STRESS_RETRIES": &size.retries,
	} {
		text := os.Getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		*into = n
	}
	return size
}

// runBulk is a run that lasts until size is reached.
func (s *stress) runBulk(size bulk) {
	s.run(stressDuration(s.t), size)
	if s.t.Failed() {
		return
	}
	took := time.Since(s.begun).Round(time.Second)
	s.settle()
	stats := s.pool.Stats()
	s.t.Logf("counting %v: %d pairs, %d updates, %d failed validations, %d late releases, in %v",
		stats.Reads.Counting, s.pairs.Load(), stats.Updates, stats.Reads.Retries, stats.Reads.LateReleases, took)
}

// TestStressInBulk runs workers of every kind, and some that only read or only
// publish. It lasts until they have done a number of pairs and updates.
func TestStressInBulk(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		s := newStress(t, poolswap.Options[canary]{Portable: options.Portable})
		s.runBulk(bulkSize(t, longTurns, 4_000_000, 100_000))
	})
}
