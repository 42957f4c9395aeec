//go:build unix

package reload_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

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
