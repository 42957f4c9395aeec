//go:build linux

package verify

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// disk is a file system of a size, in memory.
type disk struct {
	t   testing.TB
	dir string
}

// newDisk mounts a disk, which takes root. Where that is not permitted, it skips the test.
func newDisk(t testing.TB, size string) *disk {
	t.Helper()
	d := &disk{t, t.TempDir()}
	switch err := d.mount(0, size); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES): // as on a runner without root
		t.Skipf("a tmpfs must not be mounted here: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(d.dir, syscall.MNT_DETACH) }) // the lock of a Cache is open
	return d
}

func (d *disk) mount(flags uintptr, size string) error {
	return syscall.Mount("tmpfs", d.dir, "tmpfs", flags, "size="+size)
}

func (d *disk) resize(size string) {
	d.t.Helper()
	if err := d.mount(syscall.MS_REMOUNT, size); err != nil {
		d.t.Fatal(err)
	}
}

// TestFullDisk fills the disk of a server.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t, "96m")
	n := &node{t: t, dir: filepath.Join(d.dir, "data"), args: []string{"-reserve", "8388608", "-keep", "2"}}
	n.start()
	defer n.kill()
	eventually(t, "there is a token", func() bool { _, err := os.Stat(n.token()); return err == nil })
	n.awaitToken(n.token())
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	_, plan := m.publish(t, "one")
	r := start(t, n.client(), fleet.SourceOptions{ID: "r"})
	m.await(t, plan)
	last := fleet.Revision{}
	var full *fleet.Error
	for i := range 64 {
		revision, _, err := m.Publish(t.Context(), bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 4<<20)), "")
		if err != nil {
			if !errors.As(err, &full) || full.Status != http.StatusInsufficientStorage {
				t.Errorf("publication %d: %v, want 507", i, err)
			}
			break
		}
		last = revision
	}
	if full == nil || last.ID == "" {
		t.Fatal("the disk does not become full")
	}
	must(m.Pause(t.Context(), "the disk is full"))(t) // plans have room
	plan = must(m.Resume(t.Context(), ""))(t)
	m.await(t, plan)
	n.kill()
	n.start()
	eventually(t, "the replica has the last publication", func() bool { return r.Reload(t.Context()) == nil && r.Reloader.Status().Revision == last.ID })
	if _, damaged, err := m.client.Verify(t.Context(), "table"); err != nil || len(damaged) > 0 {
		t.Errorf("Verify returned %q and %v", damaged, err)
	}
	d.resize("256m")
	m.await(t, second2(m.publish(t, "more")))
}

func second2(_ fleet.Revision, plan *fleet.Plan) *fleet.Plan { return plan }
