package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

func TestAReplicaServesWhileTheServerIsDownAndFollowsIt(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	m := newTeam(t, 2)
	for i := range 5 {
		text := fmt.Sprintf("content %d", i)
		m.publish(t, text)
		m.await(t, text, text)
		m.host.stop()
		eventually(t, "the replicas see that the server is down", func() bool { return m.replicas[0].Reload(t.Context()) != nil })
		m.await(t, text, text)
		m.host.start()
	}
	m.publish(t, "after all")
	m.await(t, "after all", "after all")
}

// A replica that starts while the server is down has what its cache has.
func TestAReplicaRestartsFromItsCache(t *testing.T) {
	m := newTeam(t, 0)
	published := m.publish(t, "content")
	dir := t.TempDir()
	start := func() *replica {
		r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
		r.Reloader = reload.New(r.objects, reload.Cache(r.source, dir), loadObject, reload.Options{Logger: quiet, Observe: r.source.Observe})
		return r
	}
	if err := start().Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.host.stop()
	r := start()
	if err := r.Reload(t.Context()); err != nil || r.text() != "content" {
		t.Fatalf("%v, %q", err, r.text())
	}
	if s := r.Reloader.Status(); s.Stale == nil || s.Revision != published.ID {
		t.Errorf("the status is %+v", s)
	}
	m.host.start()
	m.publish(t, "next")
	eventually(t, "the server is asked again", func() bool { return r.Reload(t.Context()) == nil && r.text() == "next" })
}

// A server that has lost its store has no plan, and later one of a new epoch.
func TestAStoreThatIsLostIsMadeAnew(t *testing.T) {
	m := newTeam(t, 2)
	for i := range 3 {
		m.publish(t, fmt.Sprint(i))
	}
	m.await(t, "2", "2")
	m.lose(t)
	eventually(t, "a replica says that nothing is published", func() bool {
		err := m.replicas[0].Reload(t.Context())
		return err != nil && strings.Contains(err.Error(), fleet.ErrNoPlan.Error())
	})
	m.await(t, "2", "2")
	m.publish(t, "anew")
	m.await(t, "anew", "anew")
}

func TestWithoutSetupAPublisherIsToldWhatToDo(t *testing.T) {
	h := &host{t: t, dir: t.TempDir(), port: -1}
	h.start()
	t.Cleanup(h.stop)
	p, err := fleet.NewPublisher(h.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Store(t.Context(), strings.NewReader("x")); err == nil || !strings.HasSuffix(err.Error(), "call fleet.Setup first") {
		t.Errorf("Store returned %v", err)
	}
}

func TestBadArguments(t *testing.T) {
	conn := new(nats.Conn)
	for want, call := range map[string]func() error{
		"fleet: NewPublisher with a nil Conn":            func() error { _, err := fleet.NewPublisher(nil, "a", fleet.PublisherOptions{By: "b"}); return err },
		"fleet: the name is empty":                       func() error { _, err := fleet.NewPublisher(conn, "", fleet.PublisherOptions{By: "b"}); return err },
		"fleet: the name of who publishes (By) is empty": func() error { _, err := fleet.NewPublisher(conn, "a", fleet.PublisherOptions{}); return err },
		"fleet: NewPublisher with a key of 3 bytes, not 64": func() error {
			_, err := fleet.NewPublisher(conn, "a", fleet.PublisherOptions{By: "b", Key: []byte("key")})
			return err
		},
		"fleet: NewController with a nil Conn":       func() error { _, err := fleet.NewController(nil, "a", "b"); return err },
		"fleet: the name of who steers is empty":     func() error { _, err := fleet.NewController(conn, "a", ""); return err },
		"fleet: NewSource with a nil Conn":           func() error { _, err := fleet.NewSource(nil, "a", fleet.SourceOptions{ID: "b"}); return err },
		"fleet: the id of the replica (ID) is empty": func() error { _, err := fleet.NewSource(conn, "a", fleet.SourceOptions{}); return err },
		"fleet: the id of the replica (ID) has 129 bytes, more than 128": func() error {
			_, err := fleet.NewSource(conn, "a", fleet.SourceOptions{ID: strings.Repeat("x", 129)})
			return err
		},
		`fleet: the id of the replica (ID), "\xff", is not valid UTF-8`: func() error {
			_, err := fleet.NewSource(conn, "a", fleet.SourceOptions{ID: "\xff"})
			return err
		},
		"fleet: Setup with a negative Replicas or ReportTTL": func() error { return fleet.Setup(t.Context(), conn, fleet.SetupOptions{Replicas: -1}) },
	} {
		if err := call(); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
