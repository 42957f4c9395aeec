package verify

import (
	"errors"
	"syscall"
	"testing"
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
