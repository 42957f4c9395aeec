package verify

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

func storedJetStream(t testing.TB, conn *nats.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Other tools of NATS read content as an object, and check its digest.
func TestContentIsAnObjectOfNATS(t *testing.T) {
	m := newTeam(t, 0)
	bucket, err := storedJetStream(t, m.dial()).ObjectStore(t.Context(), "poolswap-content")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range 8 { // of that many digests one has each character
		text := fmt.Sprint("content ", i)
		want[m.storeContent(t, text).ID] = text
	}
	stored, err := m.Stored(t.Context())
	if err != nil || len(stored) != len(want) {
		t.Fatalf("%d revisions are stored, %v", len(stored), err)
	}
	for _, one := range stored {
		if text, err := bucket.GetString(t.Context(), one.Name); err != nil || text != want[one.ID] {
			t.Errorf("object %q has %q, want %q: %v", one.Name, text, want[one.ID], err)
		}
	}
}

// then is empty content that does something when it is read.
type then func()

func (f then) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// storedLimit bounds the messages of content; -1 bounds none.
func storedLimit(t testing.TB, conn *nats.Conn, most int32) {
	t.Helper()
	js := storedJetStream(t, conn)
	stream, err := js.Stream(t.Context(), contentStream)
	if err != nil {
		t.Error(err)
		return
	}
	config := stream.CachedInfo().Config
	config.MaxMsgSize = most
	if _, err := js.UpdateStream(t.Context(), config); err != nil {
		t.Error(err)
	}
}

// A chunk that is refused is noticed however much comes behind it.
func TestAChunkThatIsRefusedFailsThePublication(t *testing.T) {
	m := newTeam(t, 0)
	before := m.publish(t, "before")
	admin := m.dial()
	listener := m.dial()
	answers, err := listener.SubscribeSync("_INBOX.>")
	if err == nil {
		err = listener.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	pieces := []io.Reader{&pattern{left: 1 << 20}, then(func() {
		storedLimit(t, admin, 1000)
	}), &pattern{left: 1 << 20}, then(func() {
		for refused := false; !refused; {
			answer, err := answers.NextMsgWithContext(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			refused = strings.Contains(string(answer.Data), "message size exceeds maximum allowed")
		}
		storedLimit(t, admin, -1)
	}), &pattern{left: 20 << 20}}
	if _, _, err := m.publisher.Publish(t.Context(), io.MultiReader(pieces...), ""); err == nil {
		t.Error("the publication is acknowledged")
	}
	status, err := m.Status(t.Context())
	if err != nil || status.Plan.Stable != before.ID {
		t.Errorf("the plan is %+v, %v", status.Plan, err)
	}
	if stored, err := m.Stored(t.Context()); err != nil || len(stored) != 1 {
		t.Errorf("%d revisions are stored, %v", len(stored), err)
	}
}

// Retain keeps what a replica reports, although the plan names it no more, and
// deletes all that the server has of the rest.
func TestRetainKeepsWhatAReplicaReports(t *testing.T) {
	m := newTeam(t, 0)
	runs, refused := m.storeContent(t, "it runs this"), m.storeContent(t, "it refuses this")
	for range 3 {
		m.storeContent(t, "unused")
	}
	m.publish(t, "stable")
	conn := m.dial()
	putReport(t, conn, "table.a", `{"id":"a","revision":"`+runs.ID+`","failed":"`+refused.ID+`","error":"a bad row"}`)
	time.Sleep(10 * time.Millisecond) // all is older than MinAge
	gone, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond})
	if err != nil || len(gone) != 2 || slices.ContainsFunc(gone, func(one fleet.Stored) bool { return one.ID == runs.ID || one.ID == refused.ID }) {
		t.Errorf("%v are deleted, %v", gone, err)
	}
	stream, err := storedJetStream(t, conn).Stream(t.Context(), contentStream)
	if err != nil {
		t.Fatal(err)
	}
	if messages := stream.CachedInfo().State.Msgs; messages != 8 {
		t.Errorf("4 revisions of a chunk each have %d messages, want 8", messages)
	}
}
