package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/fleet"
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

func TestEachReplicaHasThePublishedContent(t *testing.T) {
	const n = 3
	m, err := newTeam(n, rolloutSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close) // twice does nothing
	content, before := randomBytes(rolloutSize, 7), m.wire.bytes.Load()
	published, last, err := m.publish(content)
	if err != nil || published <= 0 || last <= 0 {
		t.Fatalf("Publish took %v, the swaps %v: %v", published, last, err)
	}
	// The publisher sends the content once, and n replicas get it.
	if got, least := float64(m.wire.bytes.Load()-before), float64((n+1)*rolloutSize); got < least || got > 1.2*least {
		t.Errorf("%v bytes on the wire, want %v and a little", got, least)
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
	if err != nil || len(status.Replicas) != n {
		t.Fatalf("%d replicas report, want %d: %v", len(status.Replicas), n, err)
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

	revision := status.Plan.Stable
	if err := m.replicas.check(revision, randomBytes(rolloutSize, 2)); err == nil || !strings.Contains(err.Error(), "does not have the content") {
		t.Errorf("other content: %v", err)
	}
	if err := m.replicas.check("other", content); err == nil || !strings.Contains(err.Error(), `not "other"`) {
		t.Errorf("another revision: %v", err)
	}

	m.close()
	if _, ok := runner.ProcessorTime(m.command.Process.Pid); ok {
		t.Error("the server runs on")
	}
	if _, err := os.Stat(m.dir); !os.IsNotExist(err) {
		t.Errorf("its files are left: %v", err)
	}
}

func TestEachMeasurementHasItsFigures(t *testing.T) {
	const n = 3
	publication := []string{"publish-ns", "last-ns", "server-cpu-ns", "server-rss-bytes"}
	for _, c := range []struct {
		name    string
		measure func() (runner.Sample, error)
		units   []string
	}{
		{"kept", func() (runner.Sample, error) { return JetStream(n, rolloutSize, true) }, publication},
		{"hashed", func() (runner.Sample, error) { return JetStream(n, rolloutSize, false) }, publication},
		{"hint", func() (runner.Sample, error) { return HTTP(n, rolloutSize, 0) }, publication},
		{"poll", func() (runner.Sample, error) { return HTTP(n, rolloutSize, 20*time.Millisecond) }, publication},
		{"idle", func() (runner.Sample, error) { return Idle(n, 50*time.Millisecond) }, []string{"server-cpu-ns"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sample, err := c.measure()
			if err != nil {
				t.Fatal(err)
			}
			if sample.Iterations != n {
				t.Errorf("%d replicas, want %d", sample.Iterations, n)
			}
			for _, unit := range c.units {
				if runtime.GOOS != "linux" && strings.HasPrefix(unit, "server-") {
					continue
				}
				if sample.Values[unit] <= 0 {
					t.Errorf("%v %s", sample.Values[unit], unit)
				}
			}
		})
	}
}

func TestOnlyContentThatCameTooFastIsPublishedAgain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("too many requests"), false},
		{fmt.Errorf("fleet: %w", &jetstream.APIError{Code: 429, ErrorCode: 10167}), true},
		{fmt.Errorf("fleet: %w", &jetstream.APIError{Code: 400, ErrorCode: 10071}), false},
	} {
		if got := overrun(c.err); got != c.want {
			t.Errorf("%v: %t", c.err, got)
		}
	}
}
