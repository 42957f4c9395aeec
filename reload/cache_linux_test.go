package reload_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestAFullDiskLeavesWhatIsKept(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("mounting a tmpfs needs root:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil { // busy if a file was left open
			t.Error(err)
		}
	})
	fake := new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	fake.Push([]byte(strings.Repeat("0123456789abcdef", 1<<13)))
	for range 3 {
		if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, syscall.ENOSPC) || failure.Refused {
			t.Errorf("the error is %v", failure)
		}
	}
	is(t, c, "good")
	cacheHas(t, dir, onlyTheKept)
	fake.Fail(errDown)
	r, c = cacheRestarts(t, fake, dir, "good")
	push(fake, "fits")
	succeeds(t, r, c, "fits")
}

func TestADirectoryThatIsReadOnlyStillServes(t *testing.T) {
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if os.Geteuid() == 0 { // root may write all the same, but not to what is mounted so
		if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
			t.Skip("mounting needs a capability:", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "new")
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, syscall.EROFS) && !errors.Is(failure, os.ErrPermission) {
		t.Error(failure)
	}
	is(t, c, "good")
}
