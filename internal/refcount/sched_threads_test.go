//go:build poolswapsched

package refcount_test

import (
	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

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

// rivals starts two threads that do what only one may: one must be refused.
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
