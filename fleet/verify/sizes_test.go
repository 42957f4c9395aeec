package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// idsOf returns n ids of size bytes.
func idsOf(n, size int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%0*d", size, i))
	}
	return ids
}

func TestACanaryCanHaveTenThousandIDs(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "stable")
	second := m.storeContent(t, "canary")
	ids := idsOf(10_000, 90)
	ok(m.Canary(t.Context(), second.ID, 0, "", ids...))
	r := newReplica(t, m.dial(), ids[9_999], fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil || r.text() != "canary" {
		t.Errorf("a replica of the canary has %q, %v", r.text(), err)
	}
	status, err := m.Status(t.Context())
	if err != nil || len(status.Plan.CanaryIDs) != 10_000 || len(status.Plan.Change.Whom) != 10_000 {
		t.Errorf("the plan has %d ids and %d in its change, %v", len(status.Plan.CanaryIDs), len(status.Plan.Change.Whom), err)
	}
	history, err := m.History(t.Context())
	if err != nil || len(history) != 2 || len(history[1].Whom) != 10_000 {
		t.Errorf("%d entries of the history, %v", len(history), err)
	}

	before := status.Plan.Seq
	_, err = m.Canary(t.Context(), second.ID, 0, "", idsOf(10_000, 128)...)
	if err == nil || !strings.Contains(err.Error(), "the plan has ") || !strings.Contains(err.Error(), "name fewer replicas") {
		t.Errorf("a plan that is too large: %v", err)
	}
	if status, err := m.Status(t.Context()); err != nil || status.Plan.Seq != before {
		t.Errorf("the plan is number %d, %v", status.Plan.Seq, err)
	}
	ok(m.Rollback(t.Context(), "", ""))
	if err := r.Reload(t.Context()); err != nil || r.text() != "stable" {
		t.Errorf("after the canary: %q, %v", r.text(), err)
	}
	if _, err := m.Canary(t.Context(), second.ID, 0, "", "a", ""); err == nil || err.Error() != "fleet: the id of a replica is empty" {
		t.Errorf("a canary of an empty id: %v", err)
	}
}

// A plan up to the server's limit is stored, and a larger one refused with our own
// words, at each size around the limit.
func TestAPlanAtTheLimitOfTheServer(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "content")
	conn := m.dial()
	eventually(t, "it is connected", conn.IsConnected)
	limit := int(conn.MaxPayload())
	stored, refused := 0, 0
	steps := []func(why string) error{
		func(why string) error { _, err := m.Pause(t.Context(), why); return err },
		func(why string) error { _, err := m.Resume(t.Context(), why); return err },
	}
	for size := limit - 1000; size <= limit-200; size += 16 {
		switch err := steps[stored%2](strings.Repeat("x", size)); {
		case err == nil:
			stored++
		case strings.Contains(err.Error(), "say why in fewer words"):
			refused++
		default:
			t.Fatalf("a reason of %d bytes: %v", size, err)
		}
	}
	t.Logf("%d are stored and %d refused", stored, refused)
	if stored == 0 || refused == 0 {
		t.Error("the limit is not among them")
	}
	history, err := m.History(t.Context())
	if err != nil || len(history) != stored+1 {
		t.Errorf("%d entries of the history, %v", len(history), err)
	}
}
