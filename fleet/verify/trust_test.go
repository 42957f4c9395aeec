package verify

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// The streams of JetStream, which a test tampers with.
const (
	plansBucket   = "poolswap-plans"
	contentStream = "OBJ_poolswap-content"
)

// tamper changes the stored plan by f, as one who may write plans can.
func tamper(t testing.TB, conn *nats.Conn, f func(p *fleet.Plan)) {
	t.Helper()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := js.KeyValue(t.Context(), plansBucket)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := plans.Get(t.Context(), "table")
	if err != nil {
		t.Fatal(err)
	}
	var p fleet.Plan
	if err := json.Unmarshal(entry.Value(), &p); err != nil {
		t.Fatal(err)
	}
	p.Seq++
	f(&p)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plans.Put(t.Context(), "table", text); err != nil {
		t.Fatal(err)
	}
}

// fails makes an attempt, which must fail for want, and leave what was current.
func (r *replica) fails(t testing.TB, want, stays string) {
	t.Helper()
	err := r.Reload(t.Context())
	var failure *reload.Error
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), want) {
		t.Errorf("the attempt ends with %v, want %q in it", err, want)
	}
	if got := r.text(); got != stays {
		t.Errorf("readers get %q, want %q", got, stays)
	}
}

func TestAReplicaLoadsWhatIsSignedForItsNameAlone(t *testing.T) {
	m := newTeam(t, 0)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, _ := ed25519.GenerateKey(nil)
	former, _, _ := ed25519.GenerateKey(nil)
	signed := func(name string, key ed25519.PrivateKey) *fleet.Publisher {
		p, err := fleet.NewPublisher(m.dial(), name, fleet.PublisherOptions{By: "alice", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := signed("table", private)
	_, _, err = good.Publish(t.Context(), strings.NewReader("signed"), "")
	if err != nil {
		t.Fatal(err)
	}
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{Keys: []ed25519.PublicKey{former, public}})
	if err := r.Reload(t.Context()); err != nil || r.text() != "signed" {
		t.Fatal(err, r.text())
	}

	m.publish(t, "unsigned")
	r.fails(t, "it is not signed", "signed")
	if _, _, err := signed("table", other).Publish(t.Context(), strings.NewReader("other"), ""); err != nil {
		t.Fatal(err)
	}
	r.fails(t, "its signature is by none of the keys", "signed")

	// Who writes plans can name nothing else than what was signed for this name.
	elsewhere, err := signed("other", private).Store(t.Context(), strings.NewReader("of another name"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := good.Store(t.Context(), strings.NewReader("signed too"))
	if err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]func(*fleet.Revision){
		"another name": func(r *fleet.Revision) { *r = elsewhere },
		"another time": func(r *fleet.Revision) { r.Created = r.Created.Add(time.Second) },
		"another size": func(r *fleet.Revision) { r.Size++ },
		"another id":   func(r *fleet.Revision) { r.ID = "1" },
		"other bytes":  func(r *fleet.Revision) { r.SHA256 = strings.Repeat("0", 64) },
	} {
		tamper(t, m.dial(), func(p *fleet.Plan) {
			next := second
			f(&next)
			p.Stable, p.Revisions = next.ID, map[string]fleet.Revision{next.ID: next}
			p.Previous, p.Canary, p.Pins = "", "", nil
		})
		t.Log(what)
		r.fails(t, "its signature is by none of the keys", "signed")
	}
}

func TestAFloorKeepsOldContentOut(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	old := m.publish(t, "old")
	fresh := m.publish(t, "new")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{Floor: fresh.Created})
	if err := r.Reload(t.Context()); err != nil || r.text() != "new" {
		t.Fatal(err, r.text())
	}
	ok(m.Rollback(t.Context(), old.ID, ""))
	r.fails(t, "before the floor of this replica", "new")
}

func TestAnOldPlanTakesNoReplicaBack(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	_, before, err := m.publisher.Publish(t.Context(), strings.NewReader("two"), "")
	if err != nil {
		t.Fatal(err)
	}
	m.publish(t, "three")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil || r.text() != "three" {
		t.Fatal(err, r.text())
	}
	tamper(t, m.dial(), func(p *fleet.Plan) { *p = *before })
	if err := r.Reload(t.Context()); err != nil || r.text() != "three" {
		t.Errorf("after an old plan of the same epoch: %v, %q", err, r.text())
	}
	tamper(t, m.dial(), func(p *fleet.Plan) { *p = *before; p.Epoch++; p.Seq = 1 })
	if err := r.Reload(t.Context()); err != nil || r.text() != "two" {
		t.Errorf("after a plan of another epoch: %v, %q", err, r.text())
	}
}

func TestDamagedContentIsNotLoaded(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "good")
	conn := m.dial()
	r := newReplica(t, conn, "r", fleet.SourceOptions{})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	content, err := js.ObjectStore(t.Context(), "poolswap-content")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), contentStream)
	if err != nil {
		t.Fatal(err)
	}

	// Another content of the same length takes its place.
	next := m.publish(t, "right")
	if _, err := content.PutString(t.Context(), "table/"+next.ID, "wrong"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // it is fetched each time, since an honest server may have the content again
		r.fails(t, "its SHA-256 is", "good")
		r.fails(t, "it is tried again", "good")
	}

	// A shorter one.
	next = m.publish(t, "longer content")
	if _, err := content.PutString(t.Context(), "table/"+next.ID, "short"); err != nil {
		t.Fatal(err)
	}
	r.fails(t, "has 5 bytes, and 14 were published", "good")

	// Chunks that are missing.
	next = m.publish(t, "content without chunks")
	info, err := content.GetInfo(t.Context(), "table/"+next.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject("$O.poolswap-content.C."+info.NUID)); err != nil {
		t.Fatal(err)
	}
	if checked, err := m.Verify(t.Context()); err == nil || checked != 3 || strings.Count(err.Error(), "fleet: table: ") != 2 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
	r.fails(t, "is not whole", "good")

	// And an object that is gone.
	if err := content.Delete(t.Context(), "table/"+next.ID); err != nil {
		t.Fatal(err)
	}
	r.fails(t, "is not stored any more", "good")
}
