package verify

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap/fleet"
)

// lose replaces the server by one without a store.
func (m *team) lose(t testing.TB) {
	t.Helper()
	m.host.stop()
	if err := os.RemoveAll(m.host.dir); err != nil {
		t.Fatal(err)
	}
	m.host.start()
	if err := fleet.Setup(t.Context(), m.dial(), fleet.SetupOptions{}); err != nil {
		t.Fatal(err)
	}
}

// saved returns a backup.
func (m *team) saved(t testing.TB) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := m.Backup(t.Context(), &archive); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestABackupRestoresALostFleet(t *testing.T) {
	m := newTeam(t, 0)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.publisher, err = fleet.NewPublisher(m.dial(), "table", fleet.PublisherOptions{By: "alice", Key: private}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b", "c"} {
		m.replicas = append(m.replicas, run(t, m.dial(), id, fleet.SourceOptions{Keys: []ed25519.PublicKey{public}}))
	}
	long := strings.Repeat("long ", 100_000) // several chunks
	first := m.publish(t, "one")
	m.publish(t, long)
	changed(t)(m.Canary(t.Context(), m.storeContent(t, "three").ID, 0, "try it", "b"))
	changed(t)(m.Pin(t.Context(), "c", first.ID, "an old one"))
	m.storeContent(t, "")
	m.await(t, long, "three", "one")
	stored, err := m.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changes, err := m.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	archive := m.saved(t)
	m.publish(t, "later than the backup")
	m.await(t, "later than the backup", "later than the backup", "one")

	m.lose(t)
	plan := changed(t)(m.Restore(t.Context(), bytes.NewReader(archive), "the disk broke"))
	m.await(t, long, "three", "one")
	if plan.Seq != 1 || plan.Epoch <= changes[0].Epoch || plan.Previous != first.ID || plan.Change.What != "restore" || plan.Change.Why != "the disk broke" {
		t.Errorf("the plan is %+v", plan)
	}
	again, err := m.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(again) != len(stored) || len(stored) != 4 {
		t.Fatalf("%d objects are stored, want %d", len(again), len(stored))
	}
	for i := range again {
		if !reflect.DeepEqual(again[i].Revision, stored[i].Revision) {
			t.Errorf("revision %d is %+v, want %+v", i, again[i].Revision, stored[i].Revision)
		}
	}
	after, err := m.History(t.Context())
	if err != nil || !reflect.DeepEqual(after, append(changes, plan.Change)) {
		t.Errorf("the history is %+v, %v", after, err)
	}
	if checked, err := m.Verify(t.Context()); err != nil || checked != 4 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
	if _, err := m.Restore(t.Context(), bytes.NewReader(archive), ""); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("a second Restore returns %v", err)
	}
	changed(t)(m.Rollback(t.Context(), "", "the canary is not wanted"))
	m.await(t, long, long, "one")
}

// forgetPlan takes the plan away, which no user of the package can.
func (m *team) forgetPlan(t testing.TB) {
	t.Helper()
	js, err := jetstream.New(m.dial())
	if err != nil {
		t.Fatal(err)
	}
	plans, err := js.KeyValue(t.Context(), plansBucket)
	if err != nil {
		t.Fatal(err)
	}
	if err := plans.Purge(t.Context(), "table"); err != nil {
		t.Fatal(err)
	}
}

func TestADamagedBackupIsRefused(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	stable := m.publish(t, "two")
	archive := m.saved(t)
	// A reader of a backup that is cut anywhere before its last entry ends must
	// notice; the two empty blocks behind that say nothing.
	end := bytes.LastIndex(archive, []byte("two")) + len("two")
	m.lose(t)
	for length := 0; length < end; length += 97 {
		if _, err := m.Restore(t.Context(), bytes.NewReader(archive[:length]), ""); err == nil || !strings.Contains(err.Error(), "backup") {
			t.Fatalf("a backup of %d bytes, cut to %d: %v", len(archive), length, err)
		}
		if _, err := m.Status(t.Context()); !errors.Is(err, fleet.ErrNoPlan) {
			t.Fatalf("a backup that is cut to %d leaves a plan: %v", length, err)
		}
	}
	refused := 0
	for at := 0; at < end; at += 61 {
		damaged := bytes.Clone(archive)
		damaged[at] ^= 0x15
		plan, err := m.Restore(t.Context(), bytes.NewReader(damaged), "")
		if err != nil {
			refused++
			continue
		}
		// What is damaged says nothing: the padding of tar, or its times.
		if plan.Revisions[stable.ID].SHA256 != stable.SHA256 || plan.Stable != stable.ID {
			t.Fatalf("a byte at %d is damaged, and Restore makes the plan %+v", at, plan)
		}
		m.forgetPlan(t)
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
	changed(t)(m.Restore(t.Context(), bytes.NewReader(archive), ""))
	if checked, err := m.Verify(t.Context()); err != nil || checked != 2 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
}

func TestABackupWithOtherContentIsRefused(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	archive := m.saved(t)
	m.lose(t)
	at := bytes.LastIndex(archive, []byte("one"))
	damaged := bytes.Clone(archive)
	damaged[at] ^= 0x15
	if _, err := m.Restore(t.Context(), bytes.NewReader(damaged), ""); err == nil || !strings.Contains(err.Error(), "the content has another SHA-256") {
		t.Errorf("Restore returned %v", err)
	}
	changed(t)(m.Restore(t.Context(), bytes.NewReader(archive), ""))
	if checked, err := m.Verify(t.Context()); err != nil || checked != 1 {
		t.Errorf("Verify checked %d and returned %v", checked, err)
	}
}

func TestWhatIsNoBackupOfTheNameIsRefused(t *testing.T) {
	m := newTeam(t, 0)
	if err := m.Backup(t.Context(), new(bytes.Buffer)); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Backup without a plan returns %v", err)
	}
	r := m.publish(t, "one")
	archive := m.saved(t)
	other, err := fleet.NewController(m.dial(), "other", "bob")
	if err != nil {
		t.Fatal(err)
	}
	var archived bytes.Buffer
	w := tar.NewWriter(&archived)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "holiday.jpg", Size: 0}), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		archive []byte
		says    string
	}{
		{archive, `fleet: other: the backup was not restored: the backup is of "table"`},
		{[]byte(strings.Repeat("no tar ", 200)), "fleet: other: the backup was not restored: this is no backup: archive/tar: invalid tar header"},
		{archived.Bytes(), "the backup has holiday.jpg where fleet.json belongs"},
		{nil, "the backup ends before fleet.json"},
	} {
		if _, err := other.Restore(t.Context(), bytes.NewReader(test.archive), ""); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("Restore returns %v, want %q", err, test.says)
		}
	}
	// Content that the plan names must be there.
	js, err := jetstream.New(m.dial())
	if err != nil {
		t.Fatal(err)
	}
	content, err := js.ObjectStore(t.Context(), "poolswap-content")
	if err != nil {
		t.Fatal(err)
	}
	if err := content.Delete(t.Context(), "table/"+r.ID); err != nil {
		t.Fatal(err)
	}
	if err := m.Backup(t.Context(), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "whose content is missing") {
		t.Errorf("Backup without the stable content returns %v", err)
	}
}
