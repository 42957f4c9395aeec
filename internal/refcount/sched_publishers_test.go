//go:build poolswapsched

package refcount_test

import (
	"context"
	"errors"
	"slices"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

// This file is the harness of the writer's side: the promises of Publish, versions,
// waiting, Retain, Drain and Close promise, watched at every step. A test
// object's value is its content: a publisher adds one to that of the current
// object, so each value is published once.

const (
	recycled = -1  // the value after reset
	onEmpty  = 100 // the content that a publisher makes of no current object
)

// later is the harness's version of a published object: Publish does not say it
// in advance.
const later = 1 << 20

// errFilling is returned by a fill that fails.
var errFilling = errors.New("fill failed")

// publish publishes the content that follows from the current one. refused is
// an error that Publish may return, or nil.
func (l *harness) publish(c *watched, refused error) {
	if _, err := l.publishIf(c, func(*testObject) error { return nil }); err != nil && err != refused {
		l.Fail("Publish returned %v", err)
	}
}

// publishIf is Publish with a fill that returns the error of then. It watches
// that no publication is lost and none comes between unnoticed.
func (l *harness) publishIf(c *watched, then func(next *testObject) error) (version uint64, err error) {
	l.Reads(c.id())
	updates, closed := c.done, c.closed
	l.Know(sched.Mix(uint64(updates), bit(closed)))
	defer func() {
		if l.Writes(l.id()); version == 0 {
			l.failed++
		}
	}()
	value, overtaken := 0, false
	version, err = c.Publish(context.Background(), func(next, current *testObject) error {
		l.got(next)
		value, overtaken = l.fill(c, next, current)
		return then(next)
	})
	l.Writes(c.id())
	switch {
	case (version == 0) != (err != nil):
		l.Fail("Publish returned version %d and error %v", version, err)
	case err == nil && overtaken:
		l.Fail("Publish replaced an object that was current during fill, and did not notice")
	case err == nil && closed:
		l.Fail("Publish in a closed container returned version %d", version)
	case err == poolswap.ErrConflict && c.begun == updates:
		l.Fail("Publish returned ErrConflict, and no Update came between")
	case err == nil:
		l.numbered(c, value, version)
		c.number = max(c.number, version)
		c.published++
	}
	return version, err
}

// fill makes next from current, which takes a while. It reports whether an
// Update began and returned meanwhile.
func (l *harness) fill(c *watched, next, current *testObject) (value int, overtaken bool) {
	l.Reads(c.id())
	begun := c.begun
	value = onEmpty
	if current != nil {
		l.Reads(current.id())
		value = current.value + 1
	}
	l.Know(sched.Mix(uint64(begun), uint64(value)))
	l.Yield()
	if current != nil {
		l.Reads(current.id())
		if current.value != value-1 || current.in != c {
			l.Fail("%s was recycled while fill read it", current.name)
		}
	}
	l.Writes(next.id())
	next.in, next.version, next.value = c, later, value
	l.Reads(c.id())
	overtaken = c.done > begun
	l.Know(bit(overtaken))
	return value, overtaken
}

// updateTo is update with an object of that value.
func (l *harness) updateTo(c *watched, s *testObject, value int) {
	l.Writes(s.id())
	s.value, s.offered = value, true
	l.update(c, s)
	l.Writes(s.id())
	s.offered = false
}

// offer starts a thread that calls publish, which publishes s, a new object, or
// panics with that text if Close comes first: then s is still its maker's.
func (l *harness) offer(s *testObject, text string, publish func()) {
	s.offered = true
	l.Start("updater", func() { l.tryOffer(s, text, publish) })
}

func (l *harness) tryOffer(s *testObject, text string, publish func()) {
	if !l.Panics(func() {
		defer func() {
			v := recover()
			if other, _ := v.(string); other != "" && other != text {
				l.Fail("the panic is %q", other)
			}
			if v != nil {
				panic(v)
			}
		}()
		publish()
	}) {
		l.Writes(s.id())
		s.offered = false
		return
	}
	l.Writes(l.id())
	l.disown(s)
	if objectOf(s).IsKnown() {
		l.disowned++
	}
}

// disown leaves s, which no Update has published, out of account.
func (l *harness) disown(s *testObject) {
	l.all = slices.DeleteFunc(l.all, func(one *testObject) bool { return one == s })
}

// numbered watches that the publication of value has one number for all.
func (l *harness) numbered(c *watched, value int, number uint64) {
	if before, known := c.numbers[value]; known && before != number {
		l.Fail("what %s published as %d has the versions %d and %d", c.name, value, before, number)
	}
	c.numbers[value] = number
}

// acquireNumbered is acquire that asks for the version, too. It is that of the
// last Publish that had returned before, or a later one.
func (l *harness) acquireNumbered(c *watched) *testObject {
	l.Reads(c.id())
	least := c.number
	l.Know(least)
	s := l.acquire(c)
	if s == nil {
		return nil
	}
	number := c.VersionOf(s)
	l.Reads(s.id())
	l.Writes(c.id())
	if number < least {
		l.Fail("Acquire returned version %d after a Publish had returned %d", number, least)
	}
	l.numbered(c, s.value, number)
	return s
}

// retain takes one more reference to s.
func (l *harness) retain(c *watched, s *testObject) {
	if c.Retain(s) != s {
		l.Fail("Retain returned another object")
	}
	l.Reads(s.id())
	l.Adds(s.held())
	s.holders++
}

// wait returns a version above after. No Publish had returned a later one before
// the call.
func (l *harness) wait(c *watched, after uint64) uint64 {
	l.Reads(c.id())
	least := c.number
	l.Know(least)
	version, err := c.Wait(context.Background(), after)
	if err != nil || version <= after || version < least {
		l.Fail("Wait for a version above %d returned %d and error %v, and %d was there before", after, version, err, least)
	}
	return version
}

// drain waits for s, which was replaced when it had that value.
func (l *harness) drain(s *testObject, value int) {
	if err := l.pool.Drain(context.Background()); err != nil {
		l.Fail("Drain returned %v", err)
	}
	l.Reads(s.id())
	if s.value == value {
		l.Fail("Drain returned before the reset of %s, which was replaced before the call", s.name)
	}
}

// close closes c, and watches that all that c published is back.
func (l *harness) close(c *watched) {
	l.Writes(c.id())
	c.maybeNil = true
	if err := c.Close(context.Background()); err != nil {
		l.Fail("Close returned %v", err)
	}
	l.Writes(c.id())
	c.closed = true
	for _, s := range l.all {
		l.Reads(s.id())
		if s.in == c && !s.offered {
			l.Fail("Close of %s returned before the reset of %s", c.name, s.name)
		}
	}
}

// closePool closes the pool, and watches that all objects are discarded.
func (l *harness) closePool() {
	for _, c := range l.containers {
		l.Writes(c.id())
		c.maybeNil = true
	}
	if err := l.pool.Close(context.Background()); err != nil {
		l.Fail("Close of the pool returned %v", err)
	}
	l.Writes(l.id())
	l.closed = true
	for _, s := range l.all {
		l.Reads(s.id())
		if !s.gone && !s.offered { // an offered object may be its maker's for good
			l.Fail("Close of the pool returned before Discard of %s", s.name)
		}
	}
}

// atEnd is ends when all is done.
func (l *harness) atEnd(c *watched, values ...int) {
	l.AtEnd(func() { l.ends(c, values...) })
}

// ends watches the object that is current in the end: its value, 0 for none, must be one of
// those, and its number that of the container.
func (l *harness) ends(c *watched, values ...int) {
	value, number := 0, uint64(0)
	if s := c.Acquire(); s != nil {
		value, number = s.value, c.VersionOf(s)
		c.Release(s)
		l.numbered(c, value, number)
	}
	if number != c.Version() || number != 0 && number < c.number {
		l.Fail("the current object has the version %d, the container %d, and Publish returned %d", number, c.Version(), c.number)
	}
	if !slices.Contains(values, value) {
		l.Fail("the content in the end is %d, want one of %d", value, values)
	}
}
