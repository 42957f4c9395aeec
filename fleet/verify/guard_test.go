package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func TestAFailedCanaryIsPutOnHold(t *testing.T) {
	m, ok := newTeam(t, 2), changed(t)
	first := m.publish(t, "one")
	m.awaitReports(t, first.ID)
	bad := m.storeContent(t, "bad")

	// Without a guard, Promote looks at the reports itself.
	ok(m.Canary(t.Context(), bad.ID, 0, "", m.replicas[0].id))
	eventually(t, "a promotion is refused for the failure", func() bool {
		_, err := m.Promote(t.Context(), "")
		return err != nil && strings.HasSuffix(err.Error(), "a replica of the canary could not load it")
	})

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Guard(ctx) }()
	var status *fleet.Status
	eventually(t, "the canary is on hold", func() bool {
		var err error
		if status, err = m.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		return status.Plan.Hold != ""
	})
	if c := status.Plan.Change; c.What != "hold" || c.To != bad.ID || !strings.Contains(c.Why, errBad.Error()) || len(c.Whom) != 1 || c.Whom[0] != m.replicas[0].id {
		t.Errorf("the change is %+v", c)
	}
	m.await(t, "one", "one") // each keeps what it has
	if r := status.Replicas[0]; r.State(status.Plan) != "failing" || r.Failed != bad.ID || r.Revision != first.ID {
		t.Errorf("the report is %+v", r)
	}
	if _, err := m.Promote(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "the canary is on hold: replica.0: ") {
		t.Errorf("Promote returned %v", err)
	}

	ok(m.Rollback(t.Context(), "", ""))
	good := m.storeContent(t, "good")
	ok(m.Canary(t.Context(), good.ID, 0, "", m.replicas[0].id))
	m.await(t, "good", "one")
	eventually(t, "the next canary is promoted", func() bool {
		_, err := m.Promote(t.Context(), "")
		return err == nil
	})
	m.await(t, "good", "good")
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Errorf("Guard returned %v", err)
	}
}

func TestRetainKeepsWhatIsUsed(t *testing.T) {
	m, ok := newTeam(t, 1), changed(t)
	var all []fleet.Revision
	for range 5 {
		all = append(all, m.storeContent(t, "content"))
	}
	pinned := m.publish(t, "pinned")
	ok(m.Pin(t.Context(), m.replicas[0].id, pinned.ID, ""))
	m.publish(t, "previous")
	m.publish(t, "stable")
	m.await(t, "pinned")
	if gone, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1}); err != nil || len(gone) != 0 {
		t.Errorf("of young content %v is deleted, %v", gone, err)
	}
	time.Sleep(time.Second) // the change within MinAge must be over
	gone, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 2, MinAge: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range gone {
		names = append(names, one.ID)
	}
	if want := []string{all[2].ID, all[1].ID, all[0].ID}; strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("%q are deleted, want %q", names, want)
	}
	stored, err := m.Stored(t.Context())
	if err != nil || len(stored) != 5 {
		t.Errorf("%d revisions are left, want 5: %v", len(stored), err)
	}
	if checked, err := m.Verify(t.Context()); err != nil || checked != 5 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
	if _, err := m.Retain(t.Context(), fleet.RetainOptions{}); err == nil {
		t.Error("Keep 0 is accepted")
	}
	if _, err := m.Canary(t.Context(), all[0].ID, 1, ""); err == nil || !strings.Contains(err.Error(), "is not stored") {
		t.Errorf("a canary of deleted content: %v", err)
	}
}
