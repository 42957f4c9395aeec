package reload_test

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/poolswap/poolswap/reload"
)

// TestAWatchOfAFileEndsWithTheFirstRename: what inotify tells of a file, which
// is what libraries over it tell, concerns the inode, not the name.
func TestAWatchOfAFileEndsWithTheFirstRename(t *testing.T) {
	file := t.TempDir() + "/table.txt"
	replace(t, file, "one\n", time.Now())
	tables := newTables()
	r := reload.New(tables, reload.File(file), loadTable, reload.Options{Logger: quiet})
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(watch)
	if _, err := syscall.InotifyAddWatch(watch, file, syscall.IN_ALL_EVENTS); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"two\n", "three\n"} {
		replace(t, file, text, time.Now())
		if told := len(events(t, watch)) > 0; told != (i == 0) {
			t.Errorf("rename %d: the watch tells of it: %t", i+1, told)
		}
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		events(t, watch) // of the reading
		tables.WithAcquire(func(table *Table) {
			if !slices.Equal(table.rows, []string{text[:len(text)-1]}) {
				t.Errorf("the table is %q", table.rows)
			}
		})
	}
	if err := os.WriteFile(file, []byte("four\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if told := events(t, watch); len(told) > 0 {
		t.Errorf("the watch tells of a write to the new file: %x", told)
	}
}

// events returns the masks of the events that are there.
func events(t *testing.T, watch int) (masks []uint32) {
	t.Helper()
	buffer := make([]byte, 4096)
	n, err := syscall.Read(watch, buffer)
	if err == syscall.EAGAIN {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for rest := buffer[:n]; len(rest) >= syscall.SizeofInotifyEvent; {
		event := (*syscall.InotifyEvent)(unsafe.Pointer(&rest[0])) // aligned: names are padded
		masks = append(masks, event.Mask)
		rest = rest[syscall.SizeofInotifyEvent+event.Len:]
	}
	return masks
}
