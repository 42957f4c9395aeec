package verify

import (
	"os"
	"syscall"
	"testing"
)

// disk is a file system of a size, in memory.
type disk struct {
	t   testing.TB
	dir string
}

// newDisk mounts a disk, which takes root. Without, it skips the test.
func newDisk(t testing.TB, size string) *disk {
	t.Helper()
	d := &disk{t, t.TempDir()}
	if err := d.mount(0, size); err != nil {
		if os.Getenv("POOLSWAP_NO_SKIP") != "" {
			t.Fatalf("POOLSWAP_NO_SKIP is set, but a tmpfs cannot be mounted: %v", err)
		}
		t.Skipf("a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(d.dir, 0) })
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
