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
	s.run(0, size)
	if s.t.Failed() {
		return
	}
	took := time.Since(s.begun).Round(time.Second)
	s.settle()
	stats := s.pool.Stats()
	s.t.Logf("counting %v: %d pairs, %d updates, %d failed validations, %d late releases, in %v",
		stats.Reads.Counting, s.pairs.Load(), stats.Updates, stats.Reads.Retries, stats.Reads.LateReleases, took)
}

// TestStressInBulk is TestStress with additional workers that only read or only
// publish. It lasts until they have done a number of pairs and updates.
func TestStressInBulk(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		s := newStress(t, poolswap.Options[canary]{Portable: options.Portable})
		s.runBulk(bulkSize(t, longTurns, 4_000_000, 100_000))
	})
}
