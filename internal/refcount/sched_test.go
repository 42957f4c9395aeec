//go:build poolswapsched

package refcount_test

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

// size returns the number that the environment has under that name, or else
// usual, or short with -short.
func size(t *testing.T, name string, usual, short int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" && testing.Short() {
		return short
	}
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestEveryInterleavingOfSmallScenarios goes through POOLSWAP_STATES states of
// each at most; 0 is no limit.
func TestEveryInterleavingOfSmallScenarios(t *testing.T) {
	begun := time.Now()
	limit := size(t, "POOLSWAP_STATES", 60_000, 10_000)
	t.Run("a little of each", func(t *testing.T) { // where most bugs show, so that the test fails soon
		const little = 1000
		for _, s := range scenarios {
			if r := s.explore(little); r.Failure != nil {
				t.Fatalf("%s: %v", s.name, r.Failure)
			}
		}
	})
	var all sched.Result
	ran, complete := 0, 0
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			ran++
			r := s.explore(limit)
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			t.Logf("%d states, %d runs, longest %d steps, complete %v", r.States, r.Runs, r.MaxLength, r.Complete)
			all.States += r.States
			all.Runs += r.Runs
			if r.Complete {
				complete++
			}
		})
	}
	t.Logf("%d of %d scenarios explored completely; %d states, %d runs, in %v",
		complete, len(scenarios), all.States, all.Runs, time.Since(begun).Round(time.Second))
	if least := map[int]int{10_000: 48, 60_000: 60, 0: len(scenarios)}[limit]; complete < least && ran == len(scenarios) {
		t.Errorf("%d scenarios were explored completely within %d states each, want %d", complete, limit, least)
	}
}

// TestSleepSetsLeaveOutNoState: Explore leaves out transitions, which
// lead to states that it sees anyway.
func TestSleepSetsLeaveOutNoState(t *testing.T) {
	const enough = 10_000
	compared := 0
	for _, s := range scenarios {
		few := s.explore(enough)
		if few.Failure != nil {
			t.Fatal(few.Failure)
		}
		if !few.Complete {
			continue
		}
		s.config.EveryOrder = true
		all := s.explore(0)
		if few.States != all.States || few.Runs > all.Runs {
			t.Errorf("%s: %d states in %d runs, and in every order %d states in %d runs",
				s.name, few.States, few.Runs, all.States, all.Runs)
		}
		compared++
	}
	if compared < 8 {
		t.Errorf("%d scenarios were small enough", compared)
	}
}

// scenario is a harness with threads in it.
type scenario struct {
	name       string
	config     sched.Config
	options    poolswap.Options[testObject]
	containers int
	spares     int
	fenceFails bool
	limitFalls bool
	threads    func(l *harness, c []*watched)
}

// explore is [sched.Explore] of s, after which the heavy fence is as before.
func (s scenario) explore(most int) sched.Result {
	defer func() { mendFence() }()
	return sched.Explore(s.config, s.setUp, most)
}

// sample is [sched.Sample] of s, after which the heavy fence is as before.
func (s scenario) sample(runs, changes int) sched.Result {
	defer func() { mendFence() }()
	return sched.Sample(s.config, s.setUp, runs, changes, 1)
}

func (s scenario) setUp(w *sched.World) {
	mendFence() // which failed in the last run
	l := newHarness(w, s.containers, s.spares, s.options)
	if s.fenceFails {
		l.failFence()
	}
	if s.limitFalls {
		l.letLimitFall()
	}
	s.threads(l, l.containers)
	w.AtEnd(l.check)
}

var portable = poolswap.Options[testObject]{Portable: true}

func thirdLife(l *harness, c []*watched) {
	l.reader(c[0], 1)
	l.writer(c[0], 3)
}

func twoRoundsEach(l *harness, c []*watched) {
	l.reader(c[0], 2)
	l.reader(c[0], 2)
	l.writer(c[0], 2)
}

// scenarios are small enough to be explored completely, most of them in
// seconds, the largest in an hour.
var scenarios = slices.Concat(updateScenarios, publishScenarios)

// updateScenarios are those of readers and Updates.
var updateScenarios = []scenario{
	{name: "a reader and a writer, two rounds each", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.writer(c[0], 2)
	}},
	{name: "a reader and three updates: a third life", options: portable, containers: 1, spares: 1, threads: thirdLife},
	{name: "an object is replaced under its holder while another reader comes too late", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		held := l.acquire(c[0])
		l.reader(c[0], 1)
		l.Start("writer", func() {
			l.update(c[0], l.get())
			l.release(c[0], held)
		})
	}},
	{name: "a check of one life ends in the next", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		held := l.acquire(c[0])
		l.Start("reader", func() { l.release(c[0], held) })
		l.Start("writer", func() {
			l.update(c[0], l.get())
			l.update(c[0], l.get())
			again := l.acquire(c[0])
			l.update(c[0], l.get())
			l.release(c[0], again)
		})
	}},
	{name: "two readers and an update", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.reader(c[0], 1)
		l.writer(c[0], 1)
	}},
	{name: "two readers and an update, counted the portable way", options: portable, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.reader(c[0], 1)
		l.writer(c[0], 1)
	}},
	{name: "two readers, one in the overflow stripe", config: sched.Config{Stripes: 1}, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.reader(c[0], 1)
		l.writer(c[0], 1)
	}},
	{name: "two writers", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.writers(c[0])
	}},
	{name: "two writers and a reader", options: portable, containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.writers(c[0])
	}},
	{name: "two containers on one pool", containers: 2, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("writer", func() {
			l.update(c[0], l.get())
			l.update(c[1], l.get())
		})
	}},
	{name: "an object moves to the other container under a reader", options: portable, containers: 2, spares: 0, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.Start("writer", func() {
			l.update(c[1], nil)
			l.update(c[0], l.get())
			l.update(c[1], l.get())
		})
	}},
	{name: "an owner gives back what it did not publish", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("writer", func() {
			l.pool.Release(l.get())
			l.update(c[0], l.get())
		})
	}},
	{name: "an owner gives back what another gets", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.Start("handoff", func() {
			l.pool.Release(s)
			l.update(c[0], nil)
		})
		l.Start("taker", func() {
			s := l.get()
			l.release(c[0], l.acquire(c[0]))
			l.pool.Release(s)
		})
	}},
	{name: "two threads give back the same object", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.rivals(func() { l.pool.Release(s) })
	}},
	{name: "two threads publish the same object", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.get()
		s.in, s.version = c[0], 1
		l.rivals(func() { c[0].Update(s) })
	}},
	{name: "two threads publish an object that is new to the pool", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.literal()
		s.in, s.version = c[0], 1
		l.rivals(func() { c[0].Update(s) })
	}},
	{name: "two threads bring back an object that was discarded", options: poolswap.Options[testObject]{Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.pool.Release(s)
		s.in, s.version, s.free = c[0], 1, false
		l.revived = 1
		l.rivals(func() { c[0].Update(s) })
	}},
	{name: "three threads get and give back, and two objects may exist", options: poolswap.Options[testObject]{MaxLive: 2, Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, _ []*watched) {
		for range 3 {
			l.Start("getter", func() {
				if s, err := l.pool.TryGet(); err == nil {
					l.got(s)
					l.pool.Release(s)
				}
			})
		}
	}},
	{name: "two threads publish an object that is new to a pool with a limit, and one gets", options: poolswap.Options[testObject]{MaxLive: 1, Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.update(c[0], nil)
		s := l.literal()
		s.in, s.version = c[0], 1
		l.maxLive = 0 // an object new to the pool counts here, and not yet there
		l.Start("one", func() { l.Panics(func() { c[0].Update(s) }) })
		l.Start("two", func() {
			l.Panics(func() { c[0].Update(s) })
			c[0].Update(nil)
			made, err := l.pool.TryGet()
			if err != nil { // this thread alone drops objects
				if live := l.pool.Stats().Live; live < 1 {
					l.Fail("the limit is reached, and %d are live", live)
				}
				return
			}
			l.got(made)
			l.pool.Release(made)
		})
		l.AtEnd(func() { l.revived = int(l.pool.Stats().Adopted) - 1 })
	}},
	{name: "two objects await their reset at the limit, and one of them is found", options: poolswap.Options[testObject]{MaxLive: 3}, containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		first := l.acquire(c[0])
		l.update(c[0], l.get())
		second := l.acquire(c[0])
		l.update(c[0], l.get())
		l.Start("reader", func() {
			l.release(c[0], first)
			l.release(c[0], second)
			s, err := l.pool.TryGet() // the sweeper has one of them at most
			if err != nil {
				l.Fail("TryGet returned %v, and at most one object is being reset", err)
			}
			l.got(s)
			l.pool.Release(s)
		})
	}},
	{name: "the heavy fence fails", fenceFails: true, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.writer(c[0], 3) // the third replaces an object that was made after the first failure
		l.AtEnd(func() {
			if lost := l.pool.Stats().Lost; lost != 2 {
				l.Fail("%d were lost to a failed fence, want 2", lost)
			}
		})
	}},
	{name: "two references are released three times", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.acquire(c[0])
		l.acquire(c[0])
		l.update(c[0], nil)
		s.holders = 0
		for range 3 {
			l.Start("holder", func() { l.Panics(func() { c[0].Release(s) }) }) // the last may find the object in the pool
		}
		l.AtEnd(func() {
			if l.reported > 1 {
				l.Fail("one excess was reported %d times", l.reported)
			}
		})
	}},
	{name: "the container is emptied and filled", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.Start("writer", func() {
			l.update(c[0], nil)
			l.update(c[0], l.get())
		})
	}},
	{name: "a reader hands its reference to another thread", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		var handed *testObject
		l.Start("reader", func() {
			handed = l.acquire(c[0])
			l.Start("heir", func() { l.release(c[0], handed) })
		})
		l.writer(c[0], 1)
	}},
	{name: "a Reader loads, parks and loads", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.Start("reader", func() {
			r := c[0].NewReader()
			for round := range 2 {
				l.Forget(uint64(round))
				if round > 0 {
					l.Yield()
				}
				done := c[0].done
				l.Reads(c[0].id())
				l.Know(uint64(done))
				s := r.Load()
				l.judge(c[0], s, done)
				l.Yield()
				l.Adds(s.held())
				s.holders--
				r.Park()
			}
			r.Close()
		})
		l.writer(c[0], 1)
	}},
	{name: "no spares: objects are discarded", options: poolswap.Options[testObject]{Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.Start("writer", func() { l.update(c[0], nil) })
	}},
	{name: "deep store buffers", config: sched.Config{Depth: 4}, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 3)
		l.writer(c[0], 1)
	}},
}
