package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// putReport stores a report as it is given.
func putReport(t testing.TB, conn *nats.Conn, key, text string) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "$KV.poolswap-reports."+key, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestAReportThatCannotBeReadHidesNoOther(t *testing.T) {
	m := newTeam(t, 1)
	published := m.publish(t, "content")
	m.awaitReports(t, published.ID)
	conn := m.dial()
	putReport(t, conn, "table.a=2E1", "{")
	putReport(t, conn, "table.b", `{"id":"replica.0","revision":"another"}`)
	putReport(t, conn, "table.=zz", `[]`)
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Replicas) != 1 || status.Replicas[0].Revision != published.ID {
		t.Errorf("the reports are %+v", status.Replicas)
	}
}

// Who stops reading reports in the middle leaves nothing behind.
func TestAStatusThatIsGivenUpLeavesNothing(t *testing.T) {
	long(t)
	verifyNoLeak(t)
	m := newTeam(t, 0)
	m.publish(t, "content")
	conn := m.dial()
	for i := range 600 { // more than a watcher buffers
		id := fmt.Sprint(i)
		text, err := json.Marshal(fleet.Report{ID: id, Error: strings.Repeat("x", 1000)})
		if err != nil {
			t.Fatal(err)
		}
		putReport(t, conn, "table."+id, string(text))
	}
	given := 0
	for i := range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*200*time.Microsecond)
		if _, err := m.Status(ctx); err != nil {
			given++
		}
		cancel()
	}
	if status, err := m.Status(t.Context()); err != nil || len(status.Replicas) != 600 {
		t.Errorf("%d replicas, %v", len(status.Replicas), err)
	}
	t.Logf("%d of 100 were given up", given)
}
