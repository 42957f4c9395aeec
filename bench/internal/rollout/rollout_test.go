package rollout

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// TestMain removes the servers that tests have built.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "rollout-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("TMPDIR", dir)
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

const rolloutSize = 300 << 10 // three chunks, the last one not full

func rolloutTeam(t *testing.T, n int) *team {
	t.Helper()
	m, err := newTeam(n, rolloutSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.close() })
	return m
}

func TestEachReplicaHasWhatWasPublished(t *testing.T) {
	m := rolloutTeam(t, 3)
	content := randomBytes(rolloutSize, 7)
	published, swapped, err := m.publish(content)
	if err != nil {
		t.Fatal(err)
	}
	if published <= 0 || len(swapped) != 3 || swapped[0] > swapped[2] {
		t.Errorf("Publish took %v, the swaps %v", published, swapped)
	}
	conn, err := m.connect("publisher")
	if err != nil {
		t.Fatal(err)
	}
	controller, err := fleet.NewController(conn, name, "test")
	if err != nil {
		t.Fatal(err)
	}
	status, err := controller.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(status.Replicas) != 3 {
		t.Fatalf("%d replicas report, want 3", len(status.Replicas))
	}
	for i, one := range m.replicas.all {
		o := one.objects.Acquire()
		if !bytes.Equal(o.content, content) {
			t.Errorf("replica %d has %d other bytes", i, len(o.content))
		}
		one.objects.Release(o)
		if got := status.Replicas[i]; got.Revision != status.Plan.Stable || got.State(status.Plan) != "running" {
			t.Errorf("replica %d reports revision %q, %s; the plan wants %q", i, got.Revision, got.State(status.Plan), status.Plan.Stable)
		}
	}
}

func TestAReplicaThatHasSomethingElseIsFound(t *testing.T) {
	m := rolloutTeam(t, 2)
	revision, _, err := m.publisher.Publish(t.Context(), bytes.NewReader(randomBytes(rolloutSize, 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.replicas.await(revision.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := m.replicas.check(revision.ID, randomBytes(rolloutSize, 1)); err != nil {
		t.Errorf("what is right is refused: %v", err)
	}
	if err := m.replicas.check(revision.ID, randomBytes(rolloutSize, 2)); err == nil || !strings.Contains(err.Error(), "does not have the content") {
		t.Errorf("other content: %v", err)
	}
	if err := m.replicas.check("other", randomBytes(rolloutSize, 1)); err == nil || !strings.Contains(err.Error(), `not "other"`) {
		t.Errorf("another revision: %v", err)
	}
}

// Each figure is at least what the content alone makes it.
func TestFiguresAddUp(t *testing.T) {
	const n = 3
	for _, keep := range []bool{true, false} {
		sample, err := JetStream(n, rolloutSize, keep)
		if err != nil {
			t.Fatal(err)
		}
		v := sample.Values
		// The publisher sends the content once, and n replicas get it.
		if least := float64((n + 1) * rolloutSize); v["wire-bytes"] < least || v["wire-bytes"] > 1.2*least {
			t.Errorf("%v bytes on the wire, want %v and a little", v["wire-bytes"], least)
		}
		if v["first-ns"] > v["median-ns"] || v["median-ns"] > v["last-ns"] || v["publish-ns"] <= 0 {
			t.Errorf("the times are not in order: %v", v)
		}
		if v["failures"] != 0 {
			t.Errorf("%v attempts have failed", v["failures"])
		}
		if sample.Iterations != n {
			t.Errorf("%d swaps, want %d", sample.Iterations, n)
		}
	}
	// A chunk of 128 KiB is a message to the server and one to each replica.
	const more = 40
	few, err := JetStream(n, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	many, err := JetStream(n, more*128<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := many.Values["msgs"] - few.Values["msgs"]; got < more*(n+1) || got > more*(n+1)*2 {
		t.Errorf("%d chunks are %v messages, want %d, with acknowledgements and requests up to twice as many", more, got, more*(n+1))
	}
	sample, err := HTTP(n, rolloutSize, 0)
	if err != nil {
		t.Fatal(err)
	}
	if least := float64(n * rolloutSize); sample.Values["wire-bytes"] < least || sample.Values["wire-bytes"] > 1.2*least {
		t.Errorf("HTTP: %v bytes on the wire, want %v and a little", sample.Values["wire-bytes"], least)
	}
	if got := sample.Values["msgs"]; got != 2*n {
		t.Errorf("HTTP: %v messages, want a request and an answer for each of %d replicas", got, n)
	}
}

func TestReplicasEndWithTheirTeam(t *testing.T) {
	m := rolloutTeam(t, 1)
	pid := m.command.Process.Pid
	m.close()
	if _, ok := processorTime(pid); ok {
		t.Error("the server runs on")
	}
	if _, err := os.Stat(m.dir); !os.IsNotExist(err) {
		t.Errorf("its files are left: %v", err)
	}
}

func TestAFailedAttemptIsCounted(t *testing.T) {
	r, err := startReplicas(1, 0, time.Hour, func(int) (reload.Source, func(reload.Event), error) {
		return brokenSource{}, nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.stop()
	if err := r.all[0].reloader.Reload(t.Context()); err == nil {
		t.Fatal("an attempt without content succeeds")
	}
	if n := r.failures(); n < 1 {
		t.Errorf("%v failures are counted", n)
	}
}

type brokenSource struct{}

func (brokenSource) Fetch(context.Context, string) (*reload.Content, error) {
	return nil, os.ErrNotExist
}
