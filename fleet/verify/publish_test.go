package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// TestTwentyReplicas publishes, tries, promotes, goes back, pins and pauses.
func TestTwentyReplicas(t *testing.T) {
	noLeak(t)
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	var replicas []*replica
	for i := range 20 {
		labels := map[string]string{"region": []string{"eu", "us"}[i%2]}
		replicas = append(replicas, start(t, n.client(), fleet.SourceOptions{ID: fmt.Sprintf("r%02d", i), Labels: labels}))
	}
	check := func(plan *fleet.Plan, err error, want func(i int) string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		m.await(t, plan)
		for i, r := range replicas {
			if got := r.text(); got != want(i) {
				t.Errorf("after %s %s has %q, want %q", plan.Change.Kind, r.id, got, want(i))
			}
		}
	}
	all := func(text string) func(int) string { return func(int) string { return text } }

	one, plan := m.publish(t, "one")
	check(plan, nil, all("one"))
	two := must(m.Store(t.Context(), strings.NewReader("two")))(t)
	selection := fleet.Selection{Share: 1, Labels: map[string]string{"region": "eu"}, IDs: []string{"r01"}}
	plan, err := m.Canary(t.Context(), two.ID, selection, "try it")
	check(plan, err, func(i int) string {
		if i%2 == 0 || i == 1 {
			return "two"
		}
		return "one"
	})
	plan, err = m.Promote(t.Context(), "it is well")
	check(plan, err, all("two"))
	plan, err = m.Rollback(t.Context(), "", "it is not")
	check(plan, err, all("one"))
	plan, err = m.Pin(t.Context(), "r03", two.ID, "")
	check(plan, err, func(i int) string { return map[bool]string{true: "two", false: "one"}[i == 3] })
	_, err = m.Pause(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = m.Rollback(t.Context(), two.ID, "in a pause"); err != nil {
		t.Fatal(err)
	}
	must(m.Unpin(t.Context(), "r03", ""))(t)
	late := start(t, n.client(), fleet.SourceOptions{ID: "late"})
	late.awaitText(t, "two") // it has nothing to stay with
	if got := replicas[0].text(); got != "one" {
		t.Errorf("in a pause a replica swapped to %q", got)
	}
	plan, err = m.Resume(t.Context(), "")
	check(plan, err, all("two"))
	for _, r := range replicas {
		r.stop()
	}
	if status := must(m.Status(t.Context()))(t); len(status.Replicas) != 1 {
		t.Errorf("%d replicas are listed after 20 of 21 have left", len(status.Replicas))
	}
	if history := must(m.History(t.Context(), "", 100))(t); len(history) != 9 || history[8].To != one.ID || history[0].Kind != fleet.KindResume || history[0].By == "" {
		t.Errorf("the history is %+v", history)
	}
}

// TestBadRevision: a canary that a replica refuses is held, and a rollout of it ends.
func TestBadRevision(t *testing.T) {
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	_, plan := m.publish(t, "good")
	var replicas []*replica
	for i := range 5 {
		replicas = append(replicas, start(t, n.client(), fleet.SourceOptions{ID: fmt.Sprint("r", i), Health: func() fleet.Health { return fleet.Health{} }}))
	}
	m.await(t, plan)
	bad := must(m.Store(t.Context(), strings.NewReader("bad")))(t)
	plan = must(m.Canary(t.Context(), bad.ID, fleet.Selection{IDs: []string{"r1"}}, ""))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := m.Await(ctx, plan); err == nil || !strings.Contains(err.Error(), "bad row 3") {
		t.Errorf("Await of a bad canary returned %v", err)
	}
	eventually(t, "the canary is held", func() bool {
		plan, err := m.Plan(t.Context())
		return err == nil && plan.Canary != nil && plan.Canary.Hold != ""
	})
	var refused *fleet.Error
	if _, err := m.Promote(t.Context(), ""); !errors.As(err, &refused) || refused.Status != 409 {
		t.Errorf("Promote of a canary on hold returned %v", err)
	}
	must(m.Rollback(t.Context(), "", ""))(t)
	plan = must(m.Rollout(t.Context(), bad.ID, []float64{0.6, 1}, time.Second, ""))(t)
	if _, err := m.Await(ctx, plan); err == nil {
		t.Error("Await of a bad rollout returned nil")
	}
	eventually(t, "the rollout has ended", func() bool {
		plan, err := m.Plan(t.Context())
		return err == nil && plan.Rollout == nil && plan.Canary == nil
	})
	better := must(m.Store(t.Context(), strings.NewReader("better")))(t)
	m.await(t, must(m.Rollout(t.Context(), better.ID, []float64{0.4, 1}, time.Second, ""))(t))
	for _, r := range replicas {
		if r.text() != "better" {
			t.Errorf("after the rollout %s has %q", r.id, r.text())
		}
	}
}

// TestRights steers with the tokens of replicas and readers, and with revoked ones.
func TestRights(t *testing.T) {
	n := newNode(t)
	admin := n.client()
	m := newTeam(t, admin, fleet.PublisherOptions{})
	m.publish(t, "one")
	with := func(token fleet.Token) (*fleet.Client, fleet.Token) {
		t.Helper()
		token.Name = "test"
		made := must(admin.NewToken(t.Context(), token))(t)
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(made.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		return newClient(t, n.url(), file), made
	}
	replica, made := with(fleet.Token{Role: fleet.ReplicaRole, Names: "table", IDs: "r*"})
	reader, _ := with(fleet.Token{Role: fleet.ReaderRole, Names: "other"})
	publisher, _ := with(fleet.Token{Role: fleet.PublisherRole, Names: "ta*"})
	refused := func(what string, status int, err error) {
		t.Helper()
		var failed *fleet.Error
		if !errors.As(err, &failed) || failed.Status != status || strings.Contains(err.Error(), made.Text) {
			t.Errorf("%s: %v, want status %d", what, err, status)
		}
	}
	r := start(t, replica, fleet.SourceOptions{ID: "r1"})
	r.awaitText(t, "one")
	_, _, err := newTeam(t, replica, fleet.PublisherOptions{}).Publish(t.Context(), strings.NewReader("two"), "")
	refused("a replica publishes", 403, err)
	refused("a replica steers", 403, second(newTeam(t, replica, fleet.PublisherOptions{}).Pause(t.Context(), "")))
	foreign := newReplica(t, replica, "", fleet.SourceOptions{ID: "x1"})
	if err := foreign.Reload(t.Context()); err != nil {
		t.Error(err) // it may read
	}
	refused("a replica reports as another", 403, foreign.Leave())
	refused("a reader of another name reads", 403, second(must(fleet.NewController(reader, "table"))(t).Status(t.Context())))
	_, plan := newTeam(t, publisher, fleet.PublisherOptions{}).publish(t, "two")
	m.await(t, plan)
	refused("a publisher steers", 403, second(must(fleet.NewController(publisher, "table"))(t).Rollback(t.Context(), "", "")))
	if err := admin.RevokeToken(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	m.publish(t, "three")
	eventually(t, "the replica is refused", func() bool { return r.Status().Failures > 0 })
	refused("a revoked token", 401, r.Reload(t.Context()))
	if r.text() != "two" {
		t.Errorf("the replica has %q, want what it had", r.text())
	}
}

func second[T any](_ T, err error) error { return err }
