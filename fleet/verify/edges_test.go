package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

func TestWhatWasNeverPublishedIsNotSteered(t *testing.T) {
	m := newTeam(t, 0)
	r := m.storeContent(t, "one")
	for what, change := range map[string]func() (*fleet.Plan, error){
		"Pause": func() (*fleet.Plan, error) { return m.Pause(t.Context(), "") },
		"Pin":   func() (*fleet.Plan, error) { return m.Pin(t.Context(), "a", r.ID, "") },
	} {
		if _, err := change(); !errors.Is(err, fleet.ErrNoPlan) {
			t.Errorf("%s returned %v", what, err)
		}
	}
	if _, err := m.Status(t.Context()); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Status returned %v", err)
	}
	if plan := changed(t)(m.Rollback(t.Context(), r.ID, "")); plan.Stable != r.ID {
		t.Errorf("the plan is %+v", plan)
	}
}

// An error quotes the row that is bad, however long that is.
func TestALongErrorIsReportedAndHoldsTheCanary(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	bad := m.storeContent(t, "bad")
	ok(m.Canary(t.Context(), bad.ID, 0, "", "a"))
	source, err := fleet.NewSource(m.dial(), "table", fleet.SourceOptions{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	content, err := source.Fetch(t.Context(), "") // so that it knows of the canary
	if err != nil {
		t.Fatal(err)
	}
	content.Body.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Guard(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	source.Observe(reload.Event{Outcome: reload.Failed, At: time.Now(), Err: &reload.Error{
		Stage: reload.Loading, Refused: true, Revision: bad.ID, Err: fmt.Errorf("bad row: %s", strings.Repeat("ü", 2<<20)),
	}})
	eventually(t, "the canary is on hold", func() bool {
		status, err := m.Status(t.Context())
		return err == nil && strings.HasPrefix(status.Plan.Hold, "a: load: bad row: üüü")
	})
}

// Who may write one report must not be able to remove the others by a header.
func TestAReportDoesNotReplaceOthers(t *testing.T) {
	m := newTeam(t, 0)
	first := m.publish(t, "one")
	conn := m.dial()
	for _, id := range []string{"a", "b"} {
		if err := conn.Publish("$KV.poolswap-reports.table."+id, fmt.Appendf(nil, `{"id":%q,"revision":%q}`, id, first.ID)); err != nil {
			t.Fatal(err)
		}
	}
	message := nats.NewMsg("$KV.poolswap-reports.table.b")
	message.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupAll)
	if _, err := conn.RequestMsg(message, time.Minute); err != nil {
		t.Fatal(err)
	}
	status, err := m.Status(t.Context())
	if err != nil || len(status.Replicas) != 2 {
		t.Errorf("the replicas are %+v, %v", status.Replicas, err)
	}
}
