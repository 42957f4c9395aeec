package verify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// Replicas that join at any time only go forward, and end with what is last.
func TestManyPublicationsReachReplicasThatJoinLate(t *testing.T) {
	long(t)
	publications := 1000
	m := newTeam(t, 2)
	order := map[string]int{}
	for i := range publications {
		order[m.publish(t, fmt.Sprint(i)).ID] = i
		if i%(publications/5) == 0 {
			m.replicas = append(m.replicas, run(t, m.dial(), fmt.Sprintf("late %d", i), fleet.SourceOptions{}))
		}
	}
	for _, r := range m.replicas {
		r.awaitText(t, fmt.Sprint(publications-1))
		r.stop()
		for i := 1; i < len(r.runs); i++ {
			if order[r.runs[i]] <= order[r.runs[i-1]] {
				t.Errorf("%s went from publication %d to %d", r.id, order[r.runs[i-1]], order[r.runs[i]])
			}
		}
		t.Logf("%s ran %d of %d revisions", r.id, len(r.runs), publications)
	}
	status, err := m.Status(t.Context())
	if err != nil || status.Plan.Seq != uint64(publications) || len(status.Replicas) != len(m.replicas) {
		t.Errorf("plan %d and %d replicas, %v", status.Plan.Seq, len(status.Replicas), err)
	}
}

// A replica that is silent disappears from the reports.
func TestASilentReplicaIsForgotten(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	m := newTeam(t, 1)
	if err := fleet.Setup(t.Context(), m.dial(), fleet.SetupOptions{ReportTTL: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	published := m.publish(t, "content")
	m.awaitReports(t, published.ID)
	time.Sleep(3 * time.Second) // it goes on reporting
	m.awaitReports(t, published.ID)
	m.replicas[0].stop()
	eventually(t, "the replica is forgotten", func() bool {
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(status.Replicas) == 0
	})
}

// Names and ids can have characters that subjects cannot.
func TestAnyNameIsOfItsOwn(t *testing.T) {
	h := newHost(t)
	conn := h.dial()
	names := []string{"a", "A", "a.b", "a=2Eb", "a b", "*", ">", "ä/ö", strings.Repeat("x", 128), "a\x00"}
	for _, name := range names {
		p, err := fleet.NewPublisher(conn, name, fleet.PublisherOptions{By: "alice"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Publish(t.Context(), strings.NewReader(name), "because of "+name); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	}
	for _, name := range names {
		c, err := fleet.NewController(conn, name, "bob")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := c.Stored(t.Context())
		if err != nil || len(stored) != 1 || stored[0].Size != int64(len(name)) {
			t.Errorf("%q has %v, %v", name, stored, err)
		}
		if history, err := c.History(t.Context()); err != nil || len(history) != 1 || history[0].Why != "because of "+name {
			t.Errorf("the history of %q is %v, %v", name, history, err)
		}
		if checked, err := c.Verify(t.Context()); err != nil || checked != 1 {
			t.Errorf("%q: %d, %v", name, checked, err)
		}
	}
}
