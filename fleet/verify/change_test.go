package verify

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// However many change a plan at once, each change that was acknowledged is a plan
// of its own, and what it did is in the plans after it.
func TestChangesAtOnceLoseNone(t *testing.T) {
	m := newTeam(t, 0)
	stable := m.publish(t, "one")
	const changers, rounds = 4, 25
	var all sync.WaitGroup
	var mu sync.Mutex
	pinned := map[string]bool{}
	for i := range changers {
		c, err := fleet.NewController(m.dial(), "table", fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for k := range rounds {
				id := fmt.Sprintf("%d-%d", i, k)
				switch _, err := c.Pin(t.Context(), id, stable.ID, ""); {
				case err == nil:
					mu.Lock()
					pinned[id] = true
					mu.Unlock()
				case !errors.Is(err, fleet.ErrConflict):
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(pinned); n == 0 || len(status.Plan.Pins) != n || status.Plan.Seq != uint64(n+1) {
		t.Errorf("%d changes were acknowledged, and plan %d has %d of them", n, status.Plan.Seq, len(status.Plan.Pins))
	}
	history, err := m.History(t.Context())
	if err != nil || len(history) != len(pinned)+1 {
		t.Errorf("the history has %d entries, %v", len(history), err)
	}
}

// Replicas that a plan says nothing new of keep what it said before.
func TestAPinEndsForOneReplica(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	first := m.publish(t, "one")
	m.publish(t, "two")
	ok(m.Pin(t.Context(), "a", first.ID, ""))
	ok(m.Pin(t.Context(), "b", first.ID, ""))
	if plan := ok(m.Unpin(t.Context(), "a", "")); len(plan.Pins) != 1 || plan.Wanted("b").ID != first.ID || plan.Wanted("a").ID != plan.Stable {
		t.Errorf("the pins are %v", plan.Pins)
	}
}

// A pin is stronger than a canary.
func TestAPinnedReplicaIsNoCanary(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	first := m.publish(t, "one")
	ok(m.Pin(t.Context(), "a", first.ID, ""))
	second := m.storeContent(t, "two")
	if plan := ok(m.Canary(t.Context(), second.ID, 0, "", "a", "b")); plan.Wanted("a").ID != first.ID || plan.Wanted("b").ID != second.ID {
		t.Errorf("they want %q and %q", plan.Wanted("a").ID, plan.Wanted("b").ID)
	}
}

// Who changed a plan may end before the history has it: the next change adds it.
func TestAChangeThatWasNotRecordedIs(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	tamper(t, m.dial(), func(p *fleet.Plan) {
		p.Paused = true
		p.Change = fleet.Change{Epoch: p.Epoch, Seq: p.Seq, By: "carol", What: "pause"}
	})
	ok(m.Resume(t.Context(), ""))
	history, err := m.History(t.Context())
	if err != nil || len(history) != 3 || history[1].By != "carol" || history[2].What != "resume" {
		t.Errorf("the history is %+v, %v", history, err)
	}
}

// The first publication under a name overtakes another first one.
func TestOfTwoFirstPublishersOneIsTold(t *testing.T) {
	m := newTeam(t, 0)
	var fast fleet.Revision
	slow := io.MultiReader(then(func() { fast = m.publish(t, "fast") }), strings.NewReader("slow"))
	if _, _, err := m.publisher.Publish(t.Context(), slow, ""); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("the slow publisher is told %v", err)
	}
	if status, err := m.Status(t.Context()); err != nil || status.Plan.Stable != fast.ID || status.Plan.Seq != 1 {
		t.Errorf("the plan is %+v, %v", status.Plan, err)
	}
}
