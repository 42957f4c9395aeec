package verify

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// A change that is acknowledged never wants what Retain deletes meanwhile.
func TestRetainDeletesNothingThatAChangeTakes(t *testing.T) {
	long(t)
	t.Parallel()                       // it waits most of its time
	const age = 300 * time.Millisecond // longer than a change takes
	m := newTeam(t, 0)
	m.publish(t, "stable")
	deleted, taken := 0, 0
	for i := range 15 {
		old := m.storeContent(t, fmt.Sprint("old ", i))
		for range 2 {
			m.storeContent(t, "newer")
		}
		m.publish(t, "stable")
		time.Sleep(age + 100*time.Millisecond)
		var both sync.WaitGroup
		var retained, changed error
		begun := time.Now()
		both.Go(func() { _, retained = m.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: age}) })
		time.Sleep(time.Duration(i%12) * time.Millisecond)
		both.Go(func() {
			switch i % 3 {
			case 0:
				_, changed = m.Rollback(t.Context(), old.ID, "")
			case 1:
				_, changed = m.Canary(t.Context(), old.ID, 0, "", "a")
			case 2:
				_, changed = m.Pin(t.Context(), "a", old.ID, "")
			}
		})
		both.Wait()
		if retained != nil {
			t.Fatal(retained)
		}
		if changed != nil {
			deleted++
		} else {
			taken++
		}
		took := time.Since(begun)
		if _, err := m.Verify(t.Context()); err != nil {
			if took >= age {
				t.Logf("round %d says nothing, since it took %v: %v", i, took, err)
				return
			}
			t.Fatalf("round %d: the change returned %v, and %v", i, changed, err)
		}
	}
	t.Logf("%d were deleted first, %d were taken first", deleted, taken)
}

// A report of an earlier try of a revision says nothing of its canary.
func TestACanaryIsJudgedByReportsThatKnowOfIt(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
	two := m.storeContent(t, "two")
	ok(m.Pin(t.Context(), "r", two.ID, ""))
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.awaitReport(t, "it runs the second", func(report fleet.Report) bool { return report.Revision == two.ID })
	ok(m.Canary(t.Context(), two.ID, 0, "", "r"))
	if _, err := m.Promote(t.Context(), ""); err == nil {
		t.Error("a report from before the canary promotes it")
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its next report promotes it", func() bool {
		_, err := m.Promote(t.Context(), "")
		return err == nil
	})
}

func TestARollbackIsNotTakenBackByASecondOne(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	one := m.publish(t, "one")
	two := m.publish(t, "two")
	if plan := ok(m.Rollback(t.Context(), "", "it is bad")); plan.Stable != one.ID {
		t.Fatalf("the plan is %+v", plan)
	}
	if _, err := m.Rollback(t.Context(), "", "once more"); err == nil {
		t.Error("a second rollback brings back what the first has left")
	}
	if plan := ok(m.Rollback(t.Context(), two.ID, "it was good")); plan.Stable != two.ID {
		t.Errorf("the plan is %+v", plan)
	}
}
