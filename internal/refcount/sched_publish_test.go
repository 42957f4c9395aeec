//go:build poolswapsched

package refcount_test

import (
	"context"
	"errors"
	"unsafe"

	"github.com/poolswap/poolswap"
)

// updateAfterClose is the panic of an Update that comes too late.
const updateAfterClose = "poolswap: Update of a *refcount_test.testObject in a closed Container (Close came first; release the object if it came from the pool)"

// publishScenarios are those of the writer's side, as small as the others.
var publishScenarios = []scenario{
	{name: "two publishers: no update is lost", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		for range 2 {
			l.Start("publisher", func() { l.publish(c[0], nil) })
		}
		l.atEnd(c[0], 2)
	}},
	{name: "a publisher and a reader who asks for the version", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.numberedReader(c[0])
		l.Start("publisher", func() { l.publish(c[0], nil) })
		l.atEnd(c[0], 1)
	}},
	{name: "a publisher alone resets what it replaces", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		old := l.acquire(c[0])
		l.release(c[0], old)
		l.Start("publisher", func() {
			l.publish(c[0], nil)
			if !old.free {
				l.Fail("Publish returned before the reset of %s, which no reader held", old.name)
			}
		})
	}},
	{name: "a publisher and an Update", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.Start("publisher", func() { l.publish(c[0], poolswap.ErrConflict) })
		l.Start("updater", func() { l.updateTo(c[0], s, 10) })
		l.AtEnd(func() { // one after the other, or refused
			if c[0].published == 0 {
				l.ends(c[0], 10)
			}
		})
		l.atEnd(c[0], 10, 11)
	}},
	{name: "a publisher and an Update of nil", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.Start("publisher", func() { l.publish(c[0], poolswap.ErrConflict) })
		l.Start("updater", func() { l.update(c[0], nil) })
		l.atEnd(c[0], 0, onEmpty)
	}},
	{name: "a publisher, and the container is filled and emptied", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.update(c[0], nil)
		s := l.get()
		l.Start("publisher", func() { l.publish(c[0], poolswap.ErrConflict) })
		l.Start("updater", func() {
			l.updateTo(c[0], s, 10)
			l.update(c[0], nil)
		})
		l.atEnd(c[0], 0, onEmpty)
	}},
	{name: "two threads publish the same object in two containers", containers: 2, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.get()
		for i, name := range []string{"one", "two"} {
			l.Start(name, func() {
				if l.Panics(func() { c[i].Update(s) }) {
					l.Writes(l.id())
					l.refused++
				}
			})
		}
		l.AtEnd(func() {
			one, two := c[0].Acquire(), c[1].Acquire()
			if l.refused != 1 || (one == s) == (two == s) {
				l.Fail("of two Updates %d were refused, and %s and %s are current", l.refused, one.name, two.name)
			}
			c[0].Release(one)
			c[1].Release(two)
		})
	}},
	{name: "fill fails, beside a reader", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("publisher", func() {
			if _, err := l.publishIf(c[0], func(*testObject) error { return errFilling }); err != errFilling {
				l.Fail("Publish returned %v", err)
			}
		})
		l.atEnd(c[0], 0)
	}},
	{name: "fill panics, and another publishes", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		l.Start("publisher", func() { l.publish(c[0], nil) })
		l.Start("unlucky", func() {
			if !l.Panics(func() { _, _ = l.publishIf(c[0], func(*testObject) error { panic("fill") }) }) {
				l.Fail("Publish did not pass on the panic of fill")
			}
		})
		l.atEnd(c[0], 1)
	}},
	{name: "fill publishes its object itself, and fails", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("publisher", func() {
			if _, err := l.publishIf(c[0], func(next *testObject) error { l.updateTo(c[0], next, 10); return errFilling }); err != errFilling {
				l.Fail("Publish returned %v", err)
			}
		})
		l.atEnd(c[0], 10)
	}},
	{name: "fill publishes its object, gets it again, and fails", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.Start("publisher", func() {
			var mine *testObject
			_, err := l.publishIf(c[0], func(next *testObject) error {
				l.updateTo(c[0], next, 10)
				l.update(c[0], nil)
				mine = l.get()
				return errFilling
			})
			if err != errFilling || mine.free {
				l.Fail("Publish returned %v, and gave back what its caller owns: %v", err, mine.free)
			}
			l.pool.Release(mine)
		})
	}},
	{name: "a waiter and two publications", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		first := c[0].Version()
		l.Start("waiter", func() {
			for after := first; after < first+2; {
				after = l.wait(c[0], after)
			}
		})
		l.Start("publisher", func() {
			l.publish(c[0], nil)
			l.publish(c[0], nil)
		})
	}},
	{name: "two wait for the first version", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.update(c[0], nil)
		for range 2 {
			l.Start("waiter", func() { l.wait(c[0], 0) })
		}
		l.Start("publisher", func() { l.publish(c[0], nil) })
	}},
	{name: "a channel of Changed, and a publication", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		first := c[0].Version()
		l.Start("asker", func() {
			changed := c[0].Changed(first)
			l.AtEnd(func() {
				select {
				case <-changed:
				default:
					l.Fail("the channel of Changed is open after a publication")
				}
			})
		})
		l.Start("publisher", func() { l.publish(c[0], nil) })
	}},
	{name: "a channel of Changed, and the container is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		first := c[0].Version()
		l.Start("asker", func() {
			changed := c[0].Changed(first)
			l.AtEnd(func() {
				select {
				case <-changed:
				default:
					l.Fail("the channel of Changed is open after Close")
				}
			})
		})
		l.Start("closer", func() { l.close(c[0]) })
	}},
	{name: "a waiter, and the container is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		first := c[0].Version()
		l.Start("waiter", func() {
			if version, err := c[0].Wait(context.Background(), first); err != poolswap.ErrClosed {
				l.Fail("Wait returned %d and %v", version, err)
			}
		})
		l.Start("closer", func() { l.close(c[0]) })
	}},
	{name: "a publisher, and its container is closed", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.unfilled = true
		l.Start("publisher", func() { l.publish(c[0], poolswap.ErrClosed) })
		l.Start("closer", func() { l.close(c[0]) })
		l.atEnd(c[0], 0)
	}},
	{name: "a publisher waits at the limit, and its container is closed", options: poolswap.Options[testObject]{MaxLive: 2, Portable: true}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.unfilled = true
		held, owned := l.acquire(c[0]), l.get()
		l.Start("publisher", func() {
			if _, err := l.publishIf(c[0], func(*testObject) error { return nil }); err != poolswap.ErrClosed {
				l.Fail("Publish returned %v", err)
			}
			l.Forget(1)
			l.release(c[0], held)
		})
		l.Start("closer", func() { l.close(c[0]) })
		l.AtEnd(func() { l.pool.Release(owned) })
	}},
	{name: "an Update, and its container is closed", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.Start("updater", func() {
			if l.Panics(func() { l.updateTo(c[0], s, 10) }) {
				l.pool.Release(s)
			}
		})
		l.Start("closer", func() { l.close(c[0]) })
		l.atEnd(c[0], 0)
	}},
	{name: "a publisher waits at the limit for a reader", options: poolswap.Options[testObject]{MaxLive: 2}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		held := l.acquire(c[0])
		l.updateTo(c[0], l.get(), 5)
		l.Start("reader", func() { l.release(c[0], held) })
		l.Start("publisher", func() { l.publish(c[0], nil) })
		l.atEnd(c[0], 6)
	}},
	{name: "a publisher waits at the limit, and what comes back is discarded", options: poolswap.Options[testObject]{MaxLive: 2, Spares: poolswap.NoSpares, Portable: true}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		held := l.acquire(c[0])
		l.updateTo(c[0], l.get(), 5)
		l.Start("reader", func() { l.release(c[0], held) })
		l.Start("publisher", func() { l.publish(c[0], nil) })
		l.atEnd(c[0], 6)
	}},
	{name: "a publisher waits at the limit for an Update of another container", options: poolswap.Options[testObject]{MaxLive: 3}, containers: 2, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.Start("updater", func() { l.updateTo(c[1], s, 10) })
		l.Start("publisher", func() { l.publish(c[0], nil) })
		l.atEnd(c[0], 1)
	}},
	{name: "a publisher waits at the limit, and all become current", options: poolswap.Options[testObject]{MaxLive: 2}, containers: 2, spares: 0, threads: func(l *harness, c []*watched) {
		l.update(c[1], nil)
		s := l.get()
		l.Start("updater", func() { l.updateTo(c[1], s, 10) })
		l.Start("publisher", func() {
			if _, err := l.publishIf(c[0], func(*testObject) error { return nil }); !errors.Is(err, poolswap.ErrLimit) {
				l.Fail("Publish returned %v", err)
			}
		})
		l.atEnd(c[0], 0)
	}},
	{name: "a Drain and the last reader, and no spares", options: poolswap.Options[testObject]{Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		old := l.acquire(c[0])
		l.updateTo(c[0], l.get(), 10)
		l.Start("reader", func() { l.release(c[0], old) })
		l.Start("drainer", func() { l.drain(old, 0) })
	}},
	{name: "a Drain and the last reader", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		old := l.acquire(c[0])
		l.updateTo(c[0], l.get(), 10)
		l.Start("reader", func() { l.release(c[0], old) })
		l.Start("drainer", func() { l.drain(old, 0) })
	}},
	{name: "a Drain after an Update", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		old := l.acquire(c[0])
		l.release(c[0], old)
		s := l.get()
		l.Start("updater", func() { l.updateTo(c[0], s, 10) })
		l.Start("drainer", func() {
			now := l.acquire(c[0])
			l.release(c[0], now)
			if now == s {
				l.drain(old, 0)
			}
		})
	}},
	{name: "a Drain does not wait for what is replaced later", containers: 1, spares: 2, threads: func(l *harness, c []*watched) {
		first := l.acquire(c[0])
		l.updateTo(c[0], l.get(), 10)
		second := l.acquire(c[0])
		s := l.get()
		l.Start("drainer", func() {
			l.drain(first, 0)
			l.release(c[0], second)
		})
		l.Start("updater", func() {
			asked := poolOf(l.pool).Asked()
			l.Await(func() bool { return *(*unsafe.Pointer)(asked) != nil }, func() {}, asked)
			l.updateTo(c[0], s, 20)
			l.release(c[0], first)
		})
	}},
	{name: "a holder retains what is being replaced", options: portable, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		held, s := l.acquire(c[0]), l.get()
		l.Start("holder", func() {
			l.retain(c[0], held)
			l.Forget(1)
			l.Start("heir", func() { l.release(c[0], held) })
			l.release(c[0], held)
		})
		l.Start("updater", func() { l.update(c[0], s) })
	}},
	{name: "a Get, and the pool is closed", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.getter()
		l.Start("closer", l.closePool)
	}},
	{name: "a Get that makes an object, and the pool is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.getter()
		l.Start("closer", l.closePool)
	}},
	{name: "a factory panics, and the pool is closed", containers: 0, spares: 0, threads: func(l *harness, _ []*watched) {
		l.broken = true
		l.Start("getter", func() { l.Panics(func() { l.pool.Get() }) })
		l.Start("closer", l.closePool)
	}},
	{name: "an owner gives back an object whose reset panics, and a Drain", containers: 0, spares: 0, threads: func(l *harness, _ []*watched) {
		s := l.get()
		l.broken = true
		l.Start("owner", func() { l.Panics(func() { l.pool.Release(s) }) })
		l.Start("drainer", func() {
			if err := l.pool.Drain(context.Background()); err != nil {
				l.Fail("Drain returned %v", err)
			}
		})
	}},
	{name: "an Update, and the pool is closed", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.Start("updater", func() {
			if l.Panics(func() { l.updateTo(c[0], s, 10) }) {
				l.pool.Release(s)
			}
		})
		l.Start("closer", l.closePool)
	}},
	{name: "an Update of a new object, and the container is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.literal()
		l.offer(s, updateAfterClose, func() { l.update(c[0], s) })
		l.Start("closer", func() { l.close(c[0]) })
	}},
	{name: "an Update of a new object, and the pool is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.literal()
		l.offer(s, updateAfterClose, func() { l.update(c[0], s) })
		l.Start("closer", l.closePool)
	}},
	{name: "an Update of an object that was discarded, and the pool is closed", options: poolswap.Options[testObject]{Spares: poolswap.NoSpares}, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.get()
		l.pool.Release(s)
		s.offered, s.free = true, false
		l.Start("updater", func() {
			if !l.Panics(func() { l.update(c[0], s) }) {
				l.Writes(l.id())
				l.revived++
			}
		})
		l.AtEnd(func() { l.disowned = int(l.pool.Stats().Discarded) - l.dropped })
		l.Start("closer", l.closePool)
	}},
	{name: "a container is made with a new object, and the pool is closed", containers: 0, spares: 0, threads: func(l *harness, _ []*watched) {
		s := l.literal()
		l.offer(s, "poolswap: NewContainer with a closed Pool", func() { poolswap.NewContainer(l.pool, s) })
		l.Start("closer", l.closePool)
	}},
	{name: "an Update of a new object that is published elsewhere once the container is closed", containers: 2, spares: 0, threads: func(l *harness, c []*watched) {
		s := l.literal()
		s.in, s.version = c[1], 1
		l.Start("updater", func() { l.Panics(func() { c[0].Update(s) }) })
		l.Start("closer", func() {
			l.close(c[0])
			l.Panics(func() { c[1].Update(s) })
		})
		l.AtEnd(func() {
			now := c[1].Acquire()
			c[1].Release(now)
			l.disowned = int(l.pool.Stats().Discarded)
			if now != s && !s.free { // neither Update published it
				l.disown(s)
			}
		})
	}},
	{name: "a publisher, and the pool is closed", options: portable, containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.unfilled = true
		l.update(c[0], nil)
		l.Start("publisher", func() { l.publish(c[0], poolswap.ErrClosed) })
		l.Start("closer", l.closePool)
	}},
	{name: "two close the pool", containers: 0, spares: 1, threads: func(l *harness, _ []*watched) {
		for range 2 {
			l.Start("closer", l.closePool)
		}
	}},
	{name: "a reader, and the pool is closed", containers: 1, spares: 0, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("closer", l.closePool)
	}},
}
