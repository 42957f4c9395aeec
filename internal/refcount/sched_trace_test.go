//go:build poolswapsched

package refcount_test

import (
	"slices"
	"testing"
)

// traced are scenarios with references to traced versions. The assembly reads the word
// that sends it to the methods, so they take its steps.
var traced = []scenario{
	{name: "a reader while tracing begins", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.pool.Trace(1)
		l.writer(c[0], 1)
	}},
	{name: "a reader while tracing ends", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.pool.Trace(1)
		l.update(c[0], l.get())
		l.reader(c[0], 1)
		l.writer(c[0], 1)
	}},
	{name: "a holder of a traced version releases while tracing ends", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.pool.Trace(1)
		l.update(c[0], l.get())
		l.Start("holder", func() { l.release(c[0], l.acquire(c[0])) })
		l.writer(c[0], 1)
	}},
	{name: "a version is released through the other container", containers: 2, spares: 2, threads: func(l *harness, c []*watched) {
		l.pool.Trace(1)
		l.update(c[0], l.get())
		l.Start("reader", func() { l.release(c[1], l.acquire(c[0])) })
		l.writer(c[0], 1)
	}},
	{name: "tracing begins in one container and ends in the other", containers: 2, spares: 2, threads: func(l *harness, c []*watched) {
		l.pool.Trace(1)
		l.update(c[0], l.get())
		l.pool.Trace(1)
		l.Start("one", func() { l.update(c[0], nil) })
		l.Start("other", func() {
			l.update(c[1], l.get())
			l.release(c[1], l.acquire(c[1]))
		})
	}},
	{name: "two traced versions are replaced at a time", containers: 2, spares: 1, threads: func(l *harness, c []*watched) {
		l.pool.Trace(2)
		l.update(c[0], nil)
		l.update(c[1], nil)
		l.update(c[0], l.get())
		l.update(c[1], l.get())
		l.Start("holder", func() { l.release(c[0], l.acquire(c[0])) })
		l.Start("one", func() { l.update(c[0], nil) })
		l.Start("other", func() { l.update(c[1], nil) })
	}},
	{name: "tracing is asked for while a version is published", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.Start("asker", func() { l.pool.Trace(1) })
		l.Start("writer", func() {
			l.update(c[0], l.get())
			l.release(c[0], l.acquire(c[0]))
		})
	}},
	{name: "a traced object is current again without a trace", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.pool.Trace(1)
		l.reader(c[0], 1)
		l.Start("writer", func() {
			for range 2 {
				l.update(c[0], nil)
				l.update(c[0], l.get())
			}
		})
	}},
	{name: "two traced lives of an object, and a reader in each", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.pool.Trace(-1)
		l.update(c[0], nil)
		l.update(c[0], l.get())
		l.reader(c[0], 1)
		l.Start("writer", func() {
			l.update(c[0], nil)
			l.update(c[0], l.get())
			l.release(c[0], l.acquire(c[0]))
		})
	}},
}

// watchTraces has the harness watch the records of s.
func (s scenario) watchTraces() scenario {
	threads := s.threads
	s.threads = func(l *harness, c []*watched) {
		l.traces = true
		threads(l, c)
		l.AtEnd(func() {
			if holders := l.pool.Holders(); len(holders) > 0 {
				l.Fail("nothing is held in the end, and the records have %v", holders)
			}
		})
	}
	return s
}

// TestEveryInterleavingOfTracing: all references to a traced version are recorded, and
// none to another.
func TestEveryInterleavingOfTracing(t *testing.T) {
	limit := size(t, "POOLSWAP_STATES", 100_000, 10_000)
	stepThroughAssembly(t)
	ran, complete := 0, 0
	for _, s := range traced {
		t.Run(s.name, func(t *testing.T) {
			ran++
			r := s.watchTraces().explore(limit)
			if r.Failure != nil {
				t.Fatal(r.Failure)
			}
			t.Logf("%d states, %d runs, longest %d steps, complete %v", r.States, r.Runs, r.MaxLength, r.Complete)
			if r.Complete {
				complete++
			}
		})
	}
	if least := map[int]int{10_000: 6, 100_000: len(traced) - 1, 0: len(traced)}[limit]; complete < least && ran == len(traced) {
		t.Errorf("%d scenarios were explored completely within %d states each, want %d", complete, limit, least)
	}
}

// TestTracingOnAndOffInEveryScenario samples all scenarios while another thread has
// versions traced.
func TestTracingOnAndOffInEveryScenario(t *testing.T) {
	each := size(t, "POOLSWAP_SCHEDULES", 500, 100)
	stepThroughAssembly(t)
	for _, s := range slices.Concat(scenarios, larger) {
		threads := s.threads
		s.threads = func(l *harness, c []*watched) {
			threads(l, c)
			l.Start("tracer", func() {
				l.pool.Trace(1)
				l.Yield()
				l.pool.Trace(-1)
				l.Yield()
				l.pool.Trace(0)
			})
		}
		t.Run(s.name, func(t *testing.T) {
			const kinds = 5 // as in TestRandomInterleavingsOfLargerScenarios
			for changes := range kinds {
				if r := s.sample(each/kinds, changes); r.Failure != nil {
					t.Fatal(r.Failure)
				}
			}
		})
	}
}
