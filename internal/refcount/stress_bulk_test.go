package refcount_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// bulk is how much a run must reach before it ends; the zero bulk asks for
// nothing.
type bulk struct {
	pairs   uint64 // of Acquire and Release, by fastReaders
	updates uint64
	retries uint64 // validations that failed

	sprint, push int  // how much fastReaders and publishers do in one turn
	alone        bool // there is nobody else
}

// longTurns are about as long for fastReaders as for publishers, so that of the
// processors each kind gets its share, and so long that the others, who give
// way all the time, leave them most of it.
var longTurns = bulk{sprint: 1 << 13, push: 1 << 8}

// reached reports whether the run has done as much as it was asked for.
func (s *stress) reached(size bulk) bool {
	stats := s.pool.Stats()
	return s.pairs.Load() >= size.pairs && stats.Updates >= size.updates && stats.Retries >= size.retries
}

// fastReader does nothing but acquire and release. It looks at the first word as
// soon as it may, and at the last as late as it may.
func (s *stress) fastReader(place, sprint int) {
	c := s.containers[place]
	for !s.over() {
		pairs := uint64(0)
		for range sprint {
			e := c.Acquire()
			if e == nil {
				continue
			}
			first := e.words[0]
			if last := e.words[len(e.words)-1]; first != last || labelOf(first).place != place {
				s.fail("acquired a canary of container %d that is being used: %x", place, e.words)
			}
			c.Release(e)
			pairs++
		}
		s.pairs.Add(pairs)
		runtime.Gosched()
	}
}

// publisher does nothing but publish.
func (s *stress) publisher(place, push int) {
	writer := places + 1 + place
	serial := uint64(0)
	for !s.over() {
		for range push {
			serial++
			s.containers[place].Update(s.write(label{writer, place, serial}))
			s.updated[place][writer].Store(serial)
		}
		runtime.Gosched()
	}
}

// ask adds to turns how much is to be done in them: pairs and updates unless
// the environment says otherwise.
func ask(t *testing.T, turns bulk, pairs, updates uint64) bulk {
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

// inBulk is a run that ends when so much is done.
func (s *stress) inBulk(size bulk) {
	s.run(0, size)
	if s.t.Failed() {
		return
	}
	took := time.Since(s.begun).Round(time.Second)
	s.settle()
	stats := s.pool.Stats()
	s.t.Logf("counting %v: %d pairs, %d updates, %d failed validations, %d late releases, in %v",
		stats.Counting, s.pairs.Load(), stats.Updates, stats.Retries, stats.LateReleases, took)
}

// TestStressInBulk is TestStress with some who do nothing but acquire and
// release, and some who do nothing but publish, until so many pairs and updates
// are done.
func TestStressInBulk(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		s := newStress(t, poolswap.Options[canary]{Portable: options.Portable})
		s.inBulk(ask(t, longTurns, 4_000_000, 100_000))
	})
}
