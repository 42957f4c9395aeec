//go:build poolswapsched

package refcount_test

import (
	"context"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

// larger scenarios are too large to be explored, or the limit of spares falls in
// them, which a count decides that is no word of the seam. Random schedules sample
// them.
var larger = []scenario{
	{name: "two readers and a writer, two rounds each", containers: 1, spares: 1, threads: twoRoundsEach},
	{name: "two readers and a writer, two rounds each, counted the portable way", options: portable, containers: 1, spares: 1, threads: twoRoundsEach},
	{name: "two readers and a writer, two rounds each, and a spare more", containers: 1, spares: 2, threads: twoRoundsEach},
	{name: "the limit of spares falls", limitFalls: true, containers: 1, spares: 3, threads: func(l *harness, c []*watched) {
		l.writer(c[0], 2)
		l.Start("owner", func() { l.pool.Release(l.get()) })
	}},
	{name: "the limit of spares falls beside a reader", limitFalls: true, containers: 1, spares: 3, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 2)
		l.Start("writer", func() {
			l.update(c[0], l.get())
			l.update(c[0], l.literal())
		})
		l.Start("owner", func() { l.pool.Release(l.get()) })
	}},
	{name: "the limit of spares falls, and Close overtakes an Update of a new object", limitFalls: true, containers: 1, spares: 3, threads: func(l *harness, c []*watched) {
		s := l.literal()
		l.offer(s, updateAfterClose, func() { l.update(c[0], s) })
		l.Start("closer", func() { l.close(c[0]) })
	}},
	{name: "a reader and three updates", containers: 1, spares: 1, threads: thirdLife},
	{name: "three readers, two writers", config: sched.Config{CPUs: 3, Stripes: 2, Depth: 3}, containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		for range 3 {
			l.reader(c[0], 3)
		}
		for range 2 {
			l.writers(c[0])
		}
	}},
	{name: "three readers, six updates", config: sched.Config{CPUs: 3, Depth: 4}, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		for range 3 {
			l.reader(c[0], 4)
		}
		l.writer(c[0], 6)
	}},
	{name: "two containers, four readers", config: sched.Config{CPUs: 3, Depth: 3}, containers: 2, spares: 1, threads: func(l *harness, c []*watched) {
		for i := range 4 {
			l.reader(c[i%2], 3)
		}
		l.writer(c[0], 3)
		l.writer(c[1], 3)
	}},
	{name: "portable: two containers, four readers", options: poolswap.Options[testObject]{Portable: true}, config: sched.Config{CPUs: 3}, containers: 2, spares: 1, threads: func(l *harness, c []*watched) {
		for i := range 4 {
			l.reader(c[i%2], 3)
		}
		l.writer(c[0], 3)
		l.writer(c[1], 3)
	}},
	{name: "Stats, and two Updates", options: portable, containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.Start("observer", func() {
			if s := l.pool.Stats(); s.Live < 0 || s.Current < 0 || s.Retired < 0 || s.PendingReset < 0 || s.Spares < 0 {
				l.Fail("%+v", s)
			}
		})
		l.writer(c[0], 2)
	}},
	{name: "a loop over the versions, and two Updates", options: portable, containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		first, last := l.get(), l.get()
		l.Start("updater", func() {
			l.updateTo(c[0], first, 10)
			l.updateTo(c[0], last, 20)
		})
		l.Start("looper", func() {
			after := uint64(0)
			for version, s := range c[0].Versions(context.Background()) {
				l.judge(c[0], s, 0)
				if version <= after {
					l.Fail("the loop yielded version %d after %d", version, after)
				}
				if of := c[0].VersionOf(s); version != of {
					l.Fail("the loop yielded version %d with the object of version %d", version, of)
				}
				after = version
				if l.letGo(s); s == last {
					break
				}
			}
		})
	}},
}

// sampleBare goes through random schedules of threads that setUp starts without a
// harness.
func sampleBare(t *testing.T, setUp func(w *sched.World)) {
	t.Helper()
	for changes := range 5 { // as below
		if r := sched.Sample(sched.Config{}, setUp, 2000, changes, 1); r.Failure != nil {
			t.Fatal(r.Failure)
		}
	}
}

// TestRandomInterleavingsOfLargerScenarios gives each POOLSWAP_SCHEDULES random
// runs, and the small ones, which are explored anyway, no more than usual.
func TestRandomInterleavingsOfLargerScenarios(t *testing.T) {
	const some = 5_000
	begun := time.Now()
	each := size(t, "POOLSWAP_SCHEDULES", some, some)
	runs, steps := 0, 0
	sample := func(s scenario, n int) {
		t.Run(s.name, func(t *testing.T) {
			const kinds = 5 // 0: every choice uniform; else PCT, with so many changes of priority
			for changes := range kinds {
				r := s.sample(n/kinds, changes)
				if r.Failure != nil {
					t.Fatal(r.Failure)
				}
				runs += r.Runs
				steps += r.Steps
			}
		})
	}
	for _, s := range larger {
		sample(s, each)
	}
	t.Logf("%d schedules of larger scenarios, %d steps, in %v", runs, steps, time.Since(begun).Round(time.Second))
	for _, s := range scenarios {
		sample(s, min(each, some))
	}
}

// TestOneSweeperRunsAtATime: however late an object is pushed, two resets of objects that
// readers left never run at a time.
func TestOneSweeperRunsAtATime(t *testing.T) {
	sampleBare(t, func(w *sched.World) {
		resets := 0
		reset := func(*testObject) bool {
			if resets++; resets > 1 {
				w.Fail("two sweepers reset at a time")
			}
			w.Yield()
			resets--
			return true
		}
		pool := poolswap.NewPoolWithOptions(func() *testObject { return new(testObject) }, reset, poolswap.Options[testObject]{Portable: true})
		c := poolswap.NewEmptyContainer(pool)
		var held []*testObject
		for range 3 {
			c.Update(new(testObject))
			held = append(held, c.Acquire())
		}
		c.Update(nil)
		w.Start("reader", func() {
			for _, s := range held {
				c.Release(s)
			}
		})
	})
}

// reader starts a thread that reads in rounds.
func (l *harness) reader(c *watched, rounds int) {
	l.Start("reader of "+c.name, func() {
		for round := range rounds {
			l.Forget(uint64(round))
			if round > 0 {
				l.Yield() // a while between the rounds, in which updates are completed
			}
			s := l.acquire(c)
			l.Forget(sched.Mix(uint64(round), s.id()))
			l.release(c, s)
		}
	})
}

// writer starts a thread that updates.
func (l *harness) writer(c *watched, updates int) {
	l.Start("writer of "+c.name, func() {
		for update := range updates {
			l.Forget(uint64(update))
			s := l.get()
			l.Forget(sched.Mix(uint64(update), s.id()))
			l.update(c, s)
		}
	})
}

// writers starts two threads that update once each. The container has two
// writers then, so which version is current is not known.
func (l *harness) writers(c *watched) {
	for range 2 {
		l.Start("writer", func() {
			s := l.get()
			s.in, s.version = c, 1<<20
			c.Update(s)
		})
	}
}

// rivals starts two threads that do a thing that only one may: one must be refused.
func (l *harness) rivals(do func()) {
	for range 2 {
		l.Start("rival", func() {
			if l.Panics(do) {
				l.Writes(l.id())
				l.refused++
			}
		})
	}
	l.AtEnd(func() {
		if l.refused != 1 {
			l.Fail("of two rivals %d were refused", l.refused)
		}
	})
}

// numberedReader starts a thread that reads once and asks for the version.
func (l *harness) numberedReader(c *watched) {
	l.Start("reader of "+c.name, func() { l.release(c, l.acquireNumbered(c)) })
}

// getter starts a thread that gets an object, unless the pool is closed, and
// gives it back.
func (l *harness) getter() {
	l.Start("getter", func() {
		s, err := l.pool.TryGet()
		if err == poolswap.ErrClosed {
			return
		}
		l.got(s)
		l.Yield()
		l.pool.Release(s)
	})
}
