package reload_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

func TestFSReadsAnyFileSystem(t *testing.T) {
	t.Parallel()
	const name = "tables/data"
	at := time.Unix(1_700_000_000, 0)
	files := fstest.MapFS{name: {Data: []byte("one"), ModTime: at}}
	c, _ := newTexts()
	r := reload.New(c, reload.FS(files, name), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "one")
	if s := r.Status(); s.Source != name || !s.Modified.Equal(at) {
		t.Errorf("the status is %+v", s)
	}
	files[name] = &fstest.MapFile{Data: []byte("two"), ModTime: at.Add(time.Second)}
	succeeds(t, r, c, "two")
	files[name] = &fstest.MapFile{Data: []byte("longer"), ModTime: at.Add(time.Second)}
	succeeds(t, r, c, "longer")
	delete(files, name)
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, fs.ErrNotExist) {
		t.Error(failure)
	}
	files[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	if failure := failsWith(t, r, reload.Fetching); !strings.Contains(failure.Error(), "is no regular file but d") {
		t.Error(failure)
	}
	files[name] = &fstest.MapFile{Data: []byte("one"), ModTime: at}
	succeeds(t, r, c, "one")
}

// Files of an embed.FS have no modification time.
func TestFSWithoutTimes(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"data": {Data: []byte("embedded")}}
	var outcomes []reload.Outcome
	c, _ := newTexts()
	r := reload.New(c, reload.FS(files, "data"), load, reload.Options{Logger: quiet, Observe: func(e reload.Event) { outcomes = append(outcomes, e.Outcome) }})
	for range 2 {
		succeeds(t, r, c, "embedded")
	}
	if s := r.Status(); outcomes[1] != reload.NotModified || !s.Modified.IsZero() {
		t.Errorf("the second attempt is %q, the status %+v", outcomes[1], s)
	}
}

func TestAFileOfAnFSThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{"same length": "AFTER!", "longer": "afterwards", "shorter": "now"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "data")
			write(t, path, "before")
			c, _ := newTexts()
			loads := 0
			r := reload.New(c, reload.FS(os.DirFS(dir), "data"), func(ctx context.Context, next, current *text, content *reload.Content) error {
				if loads++; loads == 1 {
					if err := os.WriteFile(path, []byte(change), 0o644); err != nil {
						return err
					}
				}
				return load(ctx, next, current, content)
			}, reload.Options{Logger: quiet})
			succeeds(t, r, c, change)
			if loads != 2 {
				t.Errorf("%d loads", loads)
			}
		})
	}
}
