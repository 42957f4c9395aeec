package verify

import (
	"context"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// awaitReport waits until the only replica reports what is right.
func (m *team) awaitReport(t testing.TB, what string, right func(fleet.Report) bool) {
	t.Helper()
	var last *fleet.Status
	eventually(t, what, func() bool {
		var err error
		if last, err = m.Status(t.Context()); err != nil {
			t.Fatal(err)
		}
		return len(last.Replicas) == 1 && right(last.Replicas[0])
	})
}

func TestAReportSaysWhatIsRefusedAsLongAsItIs(t *testing.T) {
	m := newTeam(t, 0)
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
	m.publish(t, "good")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	bad := m.publish(t, "bad")
	for range 3 { // the second and the third attempt fetch nothing
		before := time.Now()
		r.fails(t, errBad.Error(), "good")
		m.awaitReport(t, "the report says what is refused", func(report fleet.Report) bool {
			return report.At.After(before) && report.Failed == bad.ID && strings.Contains(report.Error, errBad.Error())
		})
	}
	next := m.publish(t, "better")
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.awaitReport(t, "the report is of a success", func(report fleet.Report) bool {
		return report.Revision == next.ID && report.Failed == "" && report.Error == ""
	})
}

func TestACanaryThatIsNotSignedIsPutOnHold(t *testing.T) {
	m := newTeam(t, 0)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signing, err := fleet.NewPublisher(m.dial(), "table", fleet.PublisherOptions{By: "alice", Key: private})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := signing.Publish(t.Context(), strings.NewReader("signed"), ""); err != nil {
		t.Fatal(err)
	}
	run(t, m.dial(), "r", fleet.SourceOptions{Keys: []ed25519.PublicKey{public}}).awaitText(t, "signed")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Guard(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	changed(t)(m.Canary(t.Context(), m.storeContent(t, "not signed").ID, 1, ""))
	eventually(t, "the canary is on hold", func() bool {
		s, err := m.Status(t.Context())
		return err == nil && strings.Contains(s.Plan.Hold, "it is not signed")
	})
}

// A transfer that fails says nothing of the content: it holds no canary.
func TestAReportRefusesNothingForATransferThatFails(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "good")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(m.dial())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), contentStream)
	if err != nil {
		t.Fatal(err)
	}
	m.publish(t, "without chunks")
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject("$O.poolswap-content.C.>")); err != nil {
		t.Fatal(err)
	}
	r.fails(t, "is not whole", "good")
	m.awaitReport(t, "the report says why and refuses nothing", func(report fleet.Report) bool {
		return strings.Contains(report.Error, "is not whole") && report.Failed == ""
	})
}
