package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// newDisk mounts a disk of a size, in memory, which takes root.
func newDisk(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	switch err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); {
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
		t.Skipf("a tmpfs must not be mounted here: %v", err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until n bytes of the disk are free.
func fill(t testing.TB, dir string, free int64) (file string) {
	t.Helper()
	file = filepath.Join(dir, "other file")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(make([]byte, max(0, int64(s.Bavail*uint64(s.Bsize))-free))); err != nil {
		t.Fatal(err)
	}
	return file
}

// fillStore stores content until there is no room.
func fillStore(t testing.TB, s *store.Store, announce int64) (last fleet.Revision, err error) {
	t.Helper()
	for i := range 100 {
		r, err := s.Put(t.Context(), "asn", fleet.Revision{ID: "r" + string(rune('A'+i)), Created: time.Now()}, announce, noise(1<<20))
		if err != nil {
			return last, err
		}
		last = r
	}
	t.Fatal("100 MiB fit")
	return last, nil
}

func TestTheReserveKeepsTheStoreAlive(t *testing.T) {
	dir := newDisk(t, "64m")
	s := open(t, store.Options{Dir: dir, Reserve: 16 << 20})
	for _, announce := range []int64{1 << 20, -1} {
		last, err := fillStore(t, s, announce)
		if !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "above its reserve") {
			t.Fatalf("the store is full: %v", err)
		}
		t.Log(err)
		plan, err := tryPublish(t.Context(), s, "asn", "", last.ID)
		if err != nil {
			t.Fatalf("a plan in the reserve: %v", err)
		}
		if checked, damaged, err := s.Verify(t.Context(), "asn"); err != nil || checked == 0 || len(damaged) > 0 {
			t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
		}
		time.Sleep(time.Millisecond)
		gone, err := s.Retain(t.Context(), "asn", 0, 0)
		if err != nil || len(gone) == 0 {
			t.Fatalf("Retain removed %d, %v", len(gone), err)
		}
		eventually(t, "there is room again", func() bool { _, spare, _ := s.Disk(); return spare > 16<<20 })
		if _, err := s.Content(t.Context(), "asn", plan.Revisions[plan.Stable].SHA256); err != nil {
			t.Error(err)
		}
	}
	other := fill(t, dir, 1<<20)
	if _, err := s.Change(t.Context(), "asn", "", "test", func(*fleet.Plan, *fleet.Change) error { return nil }); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "delete files") {
		t.Errorf("a plan on a full disk: %v", err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Change(t.Context(), "asn", "", "test", func(*fleet.Plan, *fleet.Change) error { return nil }); err != nil {
		t.Errorf("a plan when there is room again: %v", err)
	}
}

// Without a reserve JetStream stops where the disk ends, and starts again.
func TestJetStreamStartsAgainWhenThereIsRoom(t *testing.T) {
	dir := newDisk(t, "32m")
	s := open(t, store.Options{Dir: dir, Reserve: -1})
	plan := publish(t, s, "asn", "kept", large(1))
	report := func() {
		if err := s.Report(t.Context(), "asn", fleet.Report{ID: "a", Revision: "kept"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		report()
	}
	other := fill(t, dir, 3<<20)
	_, err := fillStore(t, s, -1)
	if !errors.Is(err, store.ErrFull) && !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the disk is full: %v", err)
	}
	t.Logf("%v; ready: %v", err, s.Ready())
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the store takes content again", func() bool {
		_, err := s.Put(t.Context(), "asn", fleet.Revision{ID: "again", Created: time.Now()}, -1, strings.NewReader(large(2)))
		return err == nil
	})
	if next, err := tryPublish(t.Context(), s, "asn", plan.Version(), "again"); err != nil || next.Seq != 2 {
		t.Errorf("the next plan is %+v, %v", next, err)
	}
	if checked, damaged, err := s.Verify(t.Context(), "asn"); err != nil || checked < 2 || len(damaged) > 0 {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
	eventually(t, "the node is ready", func() bool { return s.Ready() == nil })
	before := s.Reports("asn")
	report() // those of before are lost with the memory of JetStream
	eventually(t, "the replica reports again", func() bool {
		now := s.Reports("asn")
		return len(now) == 1 && (len(before) == 0 || now[0].Received.After(before[0].Received))
	})
}
