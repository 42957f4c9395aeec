package verify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// holdCanary begins a canary on replica a and lets Guard put it on hold.
func (m *team) holdCanary(t testing.TB, bad fleet.Revision) {
	t.Helper()
	plan := changed(t)(m.Canary(t.Context(), bad.ID, 0, "", "a"))
	conn := m.dial()
	guard, err := fleet.NewController(conn, "table", "guard")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		guard.Guard(t.Context())
	}()
	t.Cleanup(func() { <-ended })
	putReport(t, conn, "table.b", following(plan)+`"id":"b","failed":"`+bad.ID+`","error":"b is none of the canary"}`)
	putReport(t, conn, "table.a", `{"id":"a","failed":"`+bad.ID+`","error":"an earlier try"}`)
	putReport(t, conn, "table.a", following(plan)+`"id":"a","failed":"`+bad.ID+`","error":"a bad row"}`)
	eventually(t, "the canary is on hold", func() bool {
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return status.Plan.Hold == "a: a bad row"
	})
}

// following begins a report of a replica that follows a plan.
func following(plan *fleet.Plan) string {
	return fmt.Sprintf(`{"epoch":%d,"seq":%d,`, plan.Epoch, plan.Seq)
}

// A hold is for one canary: neither the next one nor what is stable has it.
func TestAHoldEndsWithItsCanary(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	m.holdCanary(t, m.storeContent(t, "bad"))
	good := m.storeContent(t, "good")
	plan := ok(m.Canary(t.Context(), good.ID, 0, "", "a"))
	if plan.Hold != "" {
		t.Errorf("the next canary is on hold: %s", plan.Hold)
	}
	putReport(t, m.dial(), "table.a", following(plan)+`"id":"a","revision":"`+good.ID+`"}`)
	ok(m.Promote(t.Context(), ""))

	m.holdCanary(t, m.storeContent(t, "bad, too"))
	m.publish(t, "two")
	if status, err := m.Status(t.Context()); err != nil || status.Plan.Hold != "" {
		t.Errorf("the plan is %+v, %v", status.Plan, err)
	}
}

// What a replica runs for another reason says nothing of the canary.
func TestOnlyAReplicaOfTheCanaryIsASuccess(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	next := m.storeContent(t, "two")
	plan := ok(m.Canary(t.Context(), next.ID, 0, "", "a"))
	conn := m.dial()
	putReport(t, conn, "table.b", following(plan)+`"id":"b","revision":"`+next.ID+`"}`)
	if _, err := m.Promote(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no replica of the canary runs revision") || errors.Is(err, fleet.ErrConflict) {
		t.Errorf("Promote returned %v", err)
	}
	putReport(t, conn, "table.a", following(plan)+`"id":"a","revision":"`+next.ID+`"}`)
	ok(m.Promote(t.Context(), ""))
}
