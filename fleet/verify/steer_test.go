package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// team is a server, three replicas, and who steers them.
type team struct {
	*host
	*fleet.Controller
	publisher *fleet.Publisher
	replicas  []*replica
}

func newTeam(t testing.TB, n int) *team {
	t.Helper()
	m := &team{host: newHost(t)}
	conn := m.dial()
	var err error
	if m.publisher, err = fleet.NewPublisher(conn, "table", fleet.PublisherOptions{By: "alice"}); err != nil {
		t.Fatal(err)
	}
	if m.Controller, err = fleet.NewController(conn, "table", "bob"); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m.replicas = append(m.replicas, run(t, m.dial(), fmt.Sprintf("replica.%d", i), fleet.SourceOptions{}))
	}
	return m
}

func (m *team) publish(t testing.TB, text string) fleet.Revision {
	t.Helper()
	r, _, err := m.publisher.Publish(t.Context(), strings.NewReader(text), "a test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (m *team) storeContent(t testing.TB, text string) fleet.Revision {
	t.Helper()
	r, err := m.publisher.Store(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// await waits until the replicas have these texts.
func (m *team) await(t testing.TB, texts ...string) {
	t.Helper()
	for i, text := range texts {
		m.replicas[i].awaitText(t, text)
	}
}

// changed fails the test if a change failed.
func changed(t testing.TB) func(*fleet.Plan, error) *fleet.Plan {
	return func(plan *fleet.Plan, err error) *fleet.Plan {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
}

func TestEveryReplicaGetsWhatIsPublished(t *testing.T) {
	m := newTeam(t, 3)
	m.publish(t, "one")
	m.await(t, "one", "one", "one")
	m.publish(t, "two")
	m.await(t, "two", "two", "two")
}

func TestACanaryIsPromotedOrEnded(t *testing.T) {
	m, ok := newTeam(t, 3), changed(t)
	first := m.publish(t, "one")
	m.await(t, "one", "one", "one")
	m.awaitReports(t, first.ID)

	second := m.storeContent(t, "two")
	if _, err := m.Promote(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "there is no canary") {
		t.Errorf("Promote without a canary: %v", err)
	}
	plan := ok(m.Canary(t.Context(), second.ID, 0.34, "try it"))
	if len(plan.CanaryIDs) != 2 {
		t.Fatalf("0.34 of 3 replicas are %q", plan.CanaryIDs)
	}
	want := []string{"one", "one", "one"}
	for i, r := range m.replicas {
		if slices.Contains(plan.CanaryIDs, r.id) {
			want[i] = "two"
		}
	}
	m.await(t, want...)
	eventually(t, "the canary can be promoted", func() bool {
		_, err := m.Promote(t.Context(), "it works")
		return err == nil
	})
	m.await(t, "two", "two", "two")

	third := m.storeContent(t, "three")
	ok(m.Canary(t.Context(), third.ID, 0, "only this one", m.replicas[1].id))
	m.await(t, "two", "three", "two")
	ok(m.Rollback(t.Context(), "", "end it"))
	m.await(t, "two", "two", "two")
	ok(m.Rollback(t.Context(), "", "back to the first"))
	m.await(t, "one", "one", "one")
	ok(m.Rollback(t.Context(), third.ID, "to a stored one"))
	m.await(t, "three", "three", "three")

	var whats []string
	history, err := m.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range history {
		whats = append(whats, c.What+" by "+c.By)
		if c.Seq != uint64(i+1) || c.At.IsZero() || c.To == "" {
			t.Errorf("entry %d is %+v", i, c)
		}
	}
	if want := []string{"publish by alice", "canary by bob", "promote by bob", "canary by bob", "rollback by bob", "rollback by bob", "rollback by bob"}; !slices.Equal(whats, want) {
		t.Errorf("the history is %q, want %q", whats, want)
	}
}

// awaitReports waits until every replica reports that it runs a revision.
func (m *team) awaitReports(t testing.TB, revision string) {
	t.Helper()
	eventually(t, "every replica reports "+revision, func() bool {
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(status.Replicas) == len(m.replicas) && !slices.ContainsFunc(status.Replicas, func(r fleet.Report) bool { return r.Revision != revision })
	})
}

func TestAPinAndAPause(t *testing.T) {
	m, ok := newTeam(t, 2), changed(t)
	first := m.publish(t, "one")
	m.await(t, "one", "one")
	ok(m.Pin(t.Context(), m.replicas[0].id, first.ID, ""))
	m.publish(t, "two")
	m.await(t, "one", "two")
	ok(m.Pause(t.Context(), ""))
	ok(m.Unpin(t.Context(), m.replicas[0].id, ""))
	m.publish(t, "three")
	for _, r := range m.replicas {
		if err := r.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	m.await(t, "one", "two")
	late := run(t, m.dial(), "late", fleet.SourceOptions{})
	late.awaitText(t, "three") // it has nothing to stay with
	ok(m.Resume(t.Context(), ""))
	m.await(t, "three", "three")
}

func TestOfTwoPublishersOneIsTold(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	pause, resume := make(chan struct{}), make(chan struct{})
	told := make(chan error)
	go func() {
		_, _, err := m.publisher.Publish(t.Context(), &slowReader{strings.NewReader("slow"), pause, resume}, "")
		told <- err
	}()
	<-pause
	fast := m.publish(t, "fast")
	close(resume)
	if err := <-told; !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("the slow publisher is told %v", err)
	}
	if status, err := m.Status(t.Context()); err != nil || status.Plan.Stable != fast.ID || status.Plan.Seq != 2 {
		t.Errorf("the plan is %+v, %v", status.Plan, err)
	}
}

// slowReader stops at its first Read.
type slowReader struct {
	*strings.Reader
	pause, resume chan struct{}
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.pause != nil {
		close(r.pause)
		r.pause = nil
		<-r.resume
	}
	return r.Reader.Read(p)
}
