package verify

import (
	"context"
	"crypto/ed25519"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

func TestAReplicaThatLeavesIsNoLongerListed(t *testing.T) {
	m := newTeam(t, 2)
	one := m.publish(t, "one")
	m.awaitReports(t, one.ID)
	m.replicas[0].stop()
	if err := m.replicas[0].source.Leave(); err != nil {
		t.Fatal(err)
	}
	listed := func(s *fleet.Status) bool {
		return slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.ID == m.replicas[0].id })
	}
	s, err := m.Status(t.Context())
	if err != nil || listed(s) || len(s.Replicas) != 1 {
		t.Errorf("the status is %+v, %v", s, err)
	}
	watch(t, m.Controller).until("one is left", func(s *fleet.Status) bool { return !listed(s) && len(s.Replicas) == 1 })
	plan := changed(t)(m.Canary(t.Context(), m.storeContent(t, "two").ID, 1, ""))
	if !slices.Equal(plan.CanaryIDs, []string{m.replicas[1].id}) {
		t.Errorf("the canary is %q", plan.CanaryIDs)
	}
	// It comes back by its next report.
	if err := m.replicas[0].Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	watch(t, m.Controller).until("both are there", func(s *fleet.Status) bool { return len(s.Replicas) == 2 })
	m.stop()
	if err := m.replicas[0].source.Leave(); err == nil || !strings.Contains(err.Error(), "fleet: table: ") {
		t.Errorf("without a server Leave returns %v", err)
	}
}

// A replica must not serve from its cache what its floor or keys refuse.
func TestACacheIsNotUsedUnderOtherKeysOrAnotherFloor(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	m := newTeam(t, 0)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.publisher, err = fleet.NewPublisher(m.dial(), "table", fleet.PublisherOptions{By: "alice", Key: private}); err != nil {
		t.Fatal(err)
	}
	r := m.publish(t, "kept")
	dir := t.TempDir()
	start := func(options fleet.SourceOptions) *replica {
		x := newReplica(t, m.dial(), "r", options)
		x.Reloader = reload.New(x.objects, reload.Cache(x.source, dir), loadObject, reload.Options{Logger: quiet, Observe: x.source.Observe})
		return x
	}
	trusts := fleet.SourceOptions{Keys: []ed25519.PublicKey{public}, Floor: r.Created}
	if x := start(trusts); x.Reload(t.Context()) != nil || x.text() != "kept" {
		t.Fatalf("it has %q", x.text())
	}
	m.stop()
	for _, test := range []struct {
		options fleet.SourceOptions
		text    string
	}{
		{trusts, "kept"},
		{fleet.SourceOptions{Keys: []ed25519.PublicKey{other}, Floor: r.Created}, ""},
		{fleet.SourceOptions{Keys: trusts.Keys, Floor: r.Created.Add(time.Nanosecond)}, ""},
		{fleet.SourceOptions{Keys: trusts.Keys}, ""},
		{trusts, "kept"},
	} {
		x := start(test.options)
		if err := x.Reload(t.Context()); err == nil && test.text == "" || x.text() != test.text {
			t.Errorf("%s has %q, %v; want %q", x.source, x.text(), err, test.text)
		}
	}
	m.start()
}

// What a replica has is checked, too, whatever has kept it.
func TestWhatAReplicaHasIsChecked(t *testing.T) {
	m := newTeam(t, 0)
	r := m.publish(t, "one")
	source, err := fleet.NewSource(m.dial(), "table", fleet.SourceOptions{ID: "r", Floor: r.Created.Add(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := source.Fetch(t.Context(), r.ID); err == nil || !strings.Contains(err.Error(), "before the floor of this replica") {
		t.Errorf("Fetch returns %v", err)
	}
}

// The watcher that was there before a reconnection is blind for many seconds.
func TestAReplicaHearsOfAPlanAfterAReconnection(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	conn := m.dial()
	r := newReplica(t, conn, "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waited := make(chan error)
	wait := func(have string) {
		go func() {
			err := r.source.Wait(ctx, have)
			for err != nil && ctx.Err() == nil { // as Run does: the server may stop while the watcher is made
				err = r.source.Wait(ctx, have)
			}
			waited <- err
		}()
	}
	js, err := jetstream.New(m.dial())
	if err != nil {
		t.Fatal(err)
	}
	wait(r.Status().Revision)
	eventually(t, "it watches", func() bool {
		stream, err := js.Stream(t.Context(), "KV_"+plansBucket)
		return err == nil && stream.CachedInfo().State.Consumers > 0
	})
	m.stop()
	m.start()
	if err := <-waited; err != nil {
		t.Fatalf("a reconnection ends Wait with %v", err)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait(r.Status().Revision)
	m.publish(t, "two")
	if err := <-waited; err != nil { // nothing but the watcher can end it
		t.Fatalf("a plan ends Wait with %v", err)
	}
	if err := r.Reload(t.Context()); err != nil || r.text() != "two" {
		t.Errorf("it has %q, %v", r.text(), err)
	}
	// A replica that starts without a server hears of its return.
	m.stop()
	late := newReplica(t, m.dial(), "late", fleet.SourceOptions{})
	go func() { waited <- late.source.Wait(ctx, "") }()
	time.Sleep(50 * time.Millisecond)
	m.start()
	if err := <-waited; err != nil {
		t.Errorf("a connection ends Wait with %v", err)
	}
}

// What a Cache has kept is good for the same keys in another order.
func TestTheOrderOfKeysDoesNotMatter(t *testing.T) {
	conn := newHost(t).dial()
	text := func(keys ...ed25519.PublicKey) string {
		source, err := fleet.NewSource(conn, "table", fleet.SourceOptions{ID: "r", Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return source.Identity()
	}
	one, _, _ := ed25519.GenerateKey(nil)
	two, _, _ := ed25519.GenerateKey(nil)
	if text(one, two) != text(two, one) || text(one) == text(one, two) || text(one) == text(two) {
		t.Errorf("%q, %q, %q, %q", text(one, two), text(two, one), text(one), text(two))
	}
}
