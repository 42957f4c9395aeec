package verify

import (
	"bytes"
	"crypto/ed25519"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// TestSignatures publishes signed and unsigned content to replicas with keys.
func TestSignatures(t *testing.T) {
	t.Parallel()
	public, private, _ := ed25519.GenerateKey(nil)
	_, foreign, _ := ed25519.GenerateKey(nil)
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{Key: private})
	m.publish(t, "signed")
	dir := t.TempDir()
	r := newReplica(t, n.client(), dir, fleet.SourceOptions{ID: "r", Keys: []ed25519.PublicKey{public}})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuses := func(want string) {
		t.Helper()
		if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), want) || r.text() != "signed" {
			t.Errorf("the attempt ended with %v, want %q, and readers have %q", err, want, r.text())
		}
	}
	newTeam(t, n.client(), fleet.PublisherOptions{}).publish(t, "unsigned")
	refuses("it is not signed")
	newTeam(t, n.client(), fleet.PublisherOptions{Key: foreign}).publish(t, "foreign")
	refuses("by none of the keys")
	eventually(t, "the refusal is reported", func() bool {
		status, err := m.Status(t.Context())
		return err == nil && len(status.Replicas) == 1 && status.Replicas[0].Failed == status.Plan.Stable
	})
	if err := r.Leave(); err != nil {
		t.Error(err)
	}
	// A revision that was signed for another name is stored with its signature, and refused.
	other := must(fleet.NewPublisher(n.client(), "other", fleet.PublisherOptions{Key: private, New: true}))(t)
	elsewhere := must(other.Store(t.Context(), strings.NewReader("of another name")))(t)
	if err := m.Restore(t.Context(), elsewhere, strings.NewReader("of another name")); err != nil {
		t.Fatal(err)
	}
	must(m.Rollback(t.Context(), elsewhere.ID, ""))(t)
	refuses("by none of the keys")
	// A replica with another key does not use the Cache of the first.
	late := newReplica(t, n.client(), dir, fleet.SourceOptions{ID: "late", Keys: []ed25519.PublicKey{foreign.Public().(ed25519.PublicKey)}})
	if err := late.Reload(t.Context()); err == nil || late.text() != "" {
		t.Errorf("with another key a replica loaded %q", late.text())
	}
}

// TestDamagedContent changes a byte of the content on the disk of the server.
func TestDamagedContent(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	first := "one and only one"
	one, _ := m.publish(t, first)
	r := newReplica(t, n.client(), "", fleet.SourceOptions{ID: "r"})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	two, _ := m.publish(t, strings.Repeat("two", 1000))
	damage := func(revision fleet.Revision) {
		t.Helper()
		file := filepath.Join(n.dir, "content", revision.SHA256)
		text := must(os.ReadFile(file))(t)
		text[1] ^= 1
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damage(two)
	if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "was published") || r.text() != first {
		t.Errorf("damaged content: %v, and readers have %.10q", err, r.text())
	}
	if checked, damaged, err := m.client.Verify(t.Context(), "table"); err != nil || checked != 2 || len(damaged) != 0 {
		t.Errorf("Verify checked %d, and returned %q and %v, want a repair", checked, damaged, err)
	}
	if err := r.Reload(t.Context()); err != nil || !strings.HasPrefix(r.text(), "two") {
		t.Errorf("after the repair: %v, and readers have %.10q", err, r.text())
	}
	damage(one)
	n.stop()
	inStore := 0
	err := filepath.WalkDir(filepath.Join(n.dir, "jetstream"), func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		if at := bytes.Index(text, []byte(first)); err == nil && at >= 0 {
			inStore++
			text[at] ^= 1
			err = os.WriteFile(file, text, 0o600)
		}
		return err
	})
	if err != nil || inStore == 0 {
		t.Fatalf("%d copies were damaged: %v", inStore, err)
	}
	n.start()
	eventually(t, "Verify finds it", func() bool {
		_, damaged, err := m.client.Verify(t.Context(), "table")
		return err == nil && len(damaged) == 1 && strings.Contains(damaged[0], one.ID)
	})
	must(m.Rollback(t.Context(), one.ID, ""))(t)
	if err := r.Reload(t.Context()); err == nil || !strings.HasPrefix(r.text(), "two") {
		t.Errorf("content that is lost: %v, and readers have %.10q", err, r.text())
	}
}

// TestOlderStore puts an older copy of the store in its place.
func TestOlderStore(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	_, plan := m.publish(t, "one")
	n.stop()
	copied := n.dir + ".copy"
	if output, err := exec.Command("cp", "-a", n.dir, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	n.start()
	a, b := start(t, n.client(), fleet.SourceOptions{ID: "a"}), start(t, n.client(), fleet.SourceOptions{ID: "b"})
	_, later := m.publish(t, "two")
	m.await(t, later)
	n.stop()
	if err := os.RemoveAll(n.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, n.dir); err != nil {
		t.Fatal(err)
	}
	n.start()
	a.awaitText(t, "one") // by a plan of a new epoch
	b.awaitText(t, "one")
	now := must(m.Plan(t.Context()))(t)
	if now.Epoch <= plan.Epoch || now.Stable != plan.Stable {
		t.Errorf("the plan is %s with %q, want a later epoch than %d", now.Version(), now.Stable, plan.Epoch)
	}
	_, next := m.publish(t, "three")
	m.await(t, next)
}

// TestLostStore begins anew with an empty store, and with a backup.
func TestLostStore(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	m.publish(t, "one")
	r := start(t, n.client(), fleet.SourceOptions{ID: "r"})
	r.awaitText(t, "one")
	backup := filepath.Join(t.TempDir(), "backup")
	if output, err := n.run("backup", "table", backup); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	token := must(os.ReadFile(n.token()))(t)
	for _, restore := range []bool{false, true} {
		n.stop()
		if err := os.RemoveAll(n.dir); err != nil {
			t.Fatal(err)
		}
		n.start()
		eventually(t, "there is another token", func() bool {
			next, err := os.ReadFile(n.token())
			return err == nil && !bytes.Equal(next, token)
		})
		n.awaitToken(n.token()) // clients read the file again
		token = must(os.ReadFile(n.token()))(t)
		if restore {
			if output, err := n.run("restore", "table", backup); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			r.awaitText(t, "one")
		} else {
			m.publish(t, "new")
			r.awaitText(t, "new")
		}
	}
}

// TestMirror tells replicas of a mirror that lies, and of one that is right.
func TestMirror(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789abcdef", 1<<16)
	lies := func(_ string) string { return strings.Repeat("x", len(text)) }
	for name, mirror := range map[string]func(string) string{"it lies": lies, "it is right": func(string) string { return text }} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan string, 10)
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" {
					t.Error("a mirror got a token")
				}
				asked <- r.URL.Path
				io.WriteString(w, mirror(r.URL.Path))
			}))
			defer web.Close()
			n := newNode(t, "-mirror", web.URL)
			m := newTeam(t, n.client(), fleet.PublisherOptions{})
			revision, _ := m.publish(t, text)
			r := newReplica(t, n.client(), "", fleet.SourceOptions{ID: "r"})
			eventually(t, "the content is loaded", func() bool { r.Reload(t.Context()); return r.text() == text })
			if path := <-asked; path != "/table/"+revision.SHA256 || len(asked) > 0 {
				t.Errorf("the mirror was asked for %s and %d times more", path, len(asked))
			}
		})
	}
}

// TestTLS serves with a certificate of an own authority.
func TestTLS(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue("server")
	n := &node{t: t, dir: filepath.Join(t.TempDir(), "data"), args: []string{"-cert", cert, "-key", key}}
	n.start()
	defer n.kill()
	eventually(t, "there is a token", func() bool { _, err := os.Stat(n.token()); return err == nil })
	trusting := must(fleet.NewClient("https://"+n.address, fleet.ClientOptions{TokenFile: n.token(), CAFile: ca.file}))(t)
	defer trusting.CloseIdleConnections()
	eventually(t, "the server answers", func() bool { _, err := trusting.Names(t.Context()); return err == nil })
	newTeam(t, trusting, fleet.PublisherOptions{}).publish(t, "one")
	if _, err := newClient(t, "https://"+n.address, n.token()).Names(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority: %v", err)
	}
	if _, err := newClient(t, n.url(), n.token()).Names(t.Context()); err == nil {
		t.Error("a server with TLS answered to http")
	}
}
