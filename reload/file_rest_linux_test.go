package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// A file is not at rest because its modification time is old: cp -p and tar set
// that while they write.
func TestAFileWithAnOldTimeIsReadWhenItHasNotChangedLately(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data")
	old := time.Now().Add(-time.Hour)
	for range 5 {
		if err := errors.Join(os.WriteFile(name, []byte("content"), 0o600), os.Chtimes(name, old, old)); err != nil {
			t.Fatal(err)
		}
		content, err := reload.File(name).Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		info, err := content.File.Stat()
		if err = errors.Join(err, content.Body.Close()); err != nil {
			t.Fatal(err)
		}
		changed := time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
		if rested := now.Sub(changed); rested < 50*time.Millisecond {
			t.Errorf("the file is read %v after its last change", rested)
		}
	}
}

// A time in the future is that of another clock: the file would never rest.
func TestAFileWithATimeInTheFutureIsRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data")
	future := time.Now().Add(time.Hour)
	if err := errors.Join(os.WriteFile(name, []byte("content"), 0o600), os.Chtimes(name, future, future)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it would wait for an hour
	defer cancel()
	content, err := reload.File(name).Fetch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
}
