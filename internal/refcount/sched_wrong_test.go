//go:build poolswapsched

package refcount_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/sched"
)

// These scenarios take misuse through interleavings. A call that is refused at some moment
// must be refused at each, and cost no other call an object. The harness has no part
// in this: its accounts are of programs that are right.

// newMisused makes a pool whose reset marks an object as recycled.
func newMisused() *poolswap.Pool[testObject, *testObject] {
	reset := func(s *testObject) bool { s.value = recycled; return true }
	return poolswap.NewPoolWithOptions(func() *testObject { return new(testObject) }, reset, poolswap.Options[testObject]{Portable: true})
}

// refusal runs f and returns the text of its panic, or "".
func refusal(w *sched.World, f func()) (text string) {
	w.Panics(func() {
		defer func() {
			if v := recover(); v != nil {
				text = fmt.Sprint(v)
				panic(v)
			}
		}()
		f()
	})
	return text
}

// TestDrainWaitsForWhatFillGaveAway: another thread publishes next, while fill
// fails and Publish would give next back. If Publish loses, its mark goes without a
// trace, and the object has that of its own way out, for which Drain waits.
func TestDrainWaitsForWhatFillGaveAway(t *testing.T) {
	r := sched.Explore(sched.Config{}, func(w *sched.World) {
		pool := newMisused()
		poolOf(pool).Shared(w.Label)
		c, other := poolswap.NewEmptyContainer(pool), poolswap.NewEmptyContainer(pool)
		next := pool.Get()
		pool.Release(next) // for fill
		w.Start("publisher", func() {
			_, _ = c.Publish(context.Background(), func(_, _ *testObject) error {
				w.Start("rival", func() {
					if w.Panics(func() { other.Update(next) }) {
						return
					}
					if err := pool.Drain(context.Background()); err != nil { // of the mark that Publish made
						w.Fail("Drain returned %v", err)
					}
					other.Acquire()
					other.Update(nil)
				})
				return errFilling
			})
		})
		w.AtEnd(func() {
			if _, leaving := objectOf(next).Publication(); pool.Stats().Retired == 1 && *(*uint64)(leaving) == 0 {
				w.Fail("Drain would not wait for what was replaced and is held")
			}
		})
	}, 0)
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
}

// TestOneOfTwoUpdatesRetiresWhatIsInTwoContainers, as only a forged one can have it.
func TestOneOfTwoUpdatesRetiresWhatIsInTwoContainers(t *testing.T) {
	sampleBare(t, func(w *sched.World) {
		pool := newMisused()
		s := new(testObject)
		c, forged := poolswap.NewContainer(pool, s), poolswap.NewEmptyContainer(pool)
		slotOf(forged).Forge(objectOf(s))
		refused := 0
		for _, one := range []*poolswap.Container[testObject, *testObject]{c, forged} {
			w.Start("updater", func() {
				if w.Panics(func() { one.Update(nil) }) {
					refused++
				}
			})
		}
		w.AtEnd(func() {
			if first, second := pool.Get(), pool.Get(); refused != 1 || first != s || second == s {
				w.Fail("%d were refused; Get returned the object: %v, and once more: %v", refused, first == s, second == s)
			}
		})
	})
}

// TestANewObjectIsNoCopyWhileItIsAdopted: its fields are read once they are
// written.
func TestANewObjectIsNoCopyWhileItIsAdopted(t *testing.T) {
	sampleBare(t, func(w *sched.World) {
		c := poolswap.NewEmptyContainer(newMisused())
		s := new(testObject)
		var refused []string
		for range 2 {
			w.Start("updater", func() {
				if text := refusal(w, func() { c.Update(s) }); text != "" {
					refused = append(refused, text)
				}
			})
		}
		w.AtEnd(func() {
			if len(refused) != 1 || !strings.Contains(refused[0], "publish") && !strings.Contains(refused[0], "is current already") {
				w.Fail("refused with %q", refused)
			}
		})
	})
}

// TestAnObjectFromTheOverflowIsDrained publishes and replaces an object as soon as
// it is in the overflow. Its mark is then of another way out, and a Drain must wait
// for it. The harness has no part in this: its pools discard the surplus.
func TestAnObjectFromTheOverflowIsDrained(t *testing.T) {
	const current = 1
	sampleBare(t, func(w *sched.World) {
		reset := func(s *testObject) bool { s.value = recycled; return true }
		pool := poolswap.NewPoolWithOptions(func() *testObject { return new(testObject) }, reset, poolswap.Options[testObject]{Spares: 1, Portable: true})
		c := poolswap.NewEmptyContainer(pool)
		spare, surplus := pool.Get(), pool.Get()
		pool.Release(spare)
		w.Start("owner", func() { pool.Release(surplus) })
		w.Start("writer", func() {
			next, s := pool.Get(), pool.Get()
			s.value = current
			c.Update(s)
			c.Acquire()
			c.Update(next)
			w.Start("reader", func() { c.Release(s) })
			if err := pool.Drain(context.Background()); err != nil || s.value == current {
				w.Fail("Drain returned %v before the reset of what was replaced", err)
			}
		})
	})
}
