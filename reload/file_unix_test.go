//go:build unix

package reload_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// TestFIFOInSpool has a Cache meet a FIFO, which nothing writes, in its directory.
func TestFIFOInSpool(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"kept.json", "*.content"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			dir, fake, _, _ := cacheKept(t, "good")
			names, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil || len(names) != 1 {
				t.Fatal(names, err)
			}
			if err := errors.Join(os.Remove(names[0]), syscall.Mkfifo(names[0], 0o644)); err != nil {
				t.Fatal(err)
			}
			push(fake, "newer")
			cacheRestarts(t, fake, dir, "newer")
		})
	}
}

// TestLinkInSpool has the record of a Cache lead out of its directory: the time of a file
// outside stays when the origin says that the content is the newest, and none is read.
func TestLinkInSpool(t *testing.T) {
	t.Parallel()
	dir, fake, r, c := cacheKept(t, "good")
	record, outside := filepath.Join(dir, "kept.json"), filepath.Join(t.TempDir(), "record")
	if err := errors.Join(os.Rename(record, outside), os.Symlink(outside, record), os.Chtimes(outside, time.Time{}, time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	succeeds(t, r, c, "good")
	if info, err := os.Stat(outside); err != nil || info.ModTime().Unix() != 0 {
		t.Errorf("the time of a file outside is %v, %v", info.ModTime(), err)
	}
	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	failsWith(t, r, reload.Fetching)
	is(t, c, "")
}

// TestForeignRecordInSpool is TestLinkInSpool with another name of a file outside.
func TestForeignRecordInSpool(t *testing.T) {
	t.Parallel()
	dir, _, r, c := cacheKept(t, "good")
	record, outside := filepath.Join(dir, "kept.json"), filepath.Join(dir, "..", "record")
	write(t, outside, "foreign")
	if err := errors.Join(os.Remove(record), os.Link(outside, record), os.Chtimes(outside, time.Time{}, time.Unix(0, 0))); err != nil {
		t.Fatal(err)
	}
	succeeds(t, r, c, "good")
	if info, err := os.Stat(outside); err != nil || info.ModTime().Unix() != 0 {
		t.Errorf("the time of a file outside is %v, %v", info.ModTime(), err)
	}
}

func TestFileNotRegular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "data")
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for what, kind := range map[string]string{dir: "d---------", filepath.Join(dir, "fifo"): "p---------", os.DevNull: "Dc---------"} {
		os.Remove(name)
		if err := os.Symlink(what, name); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{what, name} {
			c, _ := newTexts()
			r := reload.New(c, reload.File(path), load, reload.Options{Logger: quiet})
			if failure := failsWith(t, r, reload.Fetching); !strings.HasSuffix(failure.Err.Error(), "is no regular file but "+kind) || failure.Refused {
				t.Error(failure)
			}
			if what == os.DevNull || path == what {
				continue
			}
			os.Remove(path)
			write(t, path, "content")
			succeeds(t, r, c, "content")
		}
	}
}

// A FIFO may take a file's place after the stat. Its open waits for a writer,
// unless it is told not to.
func TestFileOpensFIFO(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := reload.OpenRegular(name); err == nil || !strings.HasSuffix(err.Error(), "is no regular file but p---------") {
		t.Errorf("the error is %v", err)
	}
}
