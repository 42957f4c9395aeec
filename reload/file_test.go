package reload_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

// fromFile returns a Reloader of a new file, and the file's name.
func fromFile(t *testing.T) (*reload.Reloader, *texts, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data")
	c, _ := newTexts()
	return reload.New(c, reload.File(name), load, reload.Options{Logger: quiet}), c, name
}

func TestFileChangesDuringRead(t *testing.T) {
	t.Parallel()
	const long = "long before"
	for name, test := range map[string]struct {
		change func(name string) error
		want   string
	}{
		"rewritten at the same length": {func(name string) error { return os.WriteFile(name, []byte("LONG AFTER!"), 0o644) }, "LONG AFTER!"},
		"longer":                       {func(name string) error { return appendTo(name, ", and more") }, long + ", and more"},
		"shorter":                      {func(name string) error { return os.Truncate(name, 6) }, "long b"},
		"emptied":                      {func(name string) error { return os.Truncate(name, 0) }, ""},
	} {
		for when, limit := range map[string]int64{"before its first byte is read": 0, "half-way": 4, "at its end": int64(len(long)), "after its end was read": 1 << 10} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "data")
				write(t, path, long)
				c, _ := newTexts()
				loads := 0
				source := reload.File(path)
				r := reload.New(c, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
					start, err := io.ReadAll(io.LimitReader(content.Body, limit))
					if loads++; err == nil && loads == 1 {
						err = test.change(path)
					}
					rest, failed := io.ReadAll(content.Body)
					next.value = append(start, rest...)
					return errors.Join(err, failed)
				}, reload.Options{Logger: quiet})
				succeeds(t, r, c, test.want)
				if s := r.Status(); loads != 2 || s.Attempts != 1 || s.Failures != 0 || s.Size != int64(len(test.want)) {
					t.Errorf("%d loads, status %+v", loads, s)
				}
				if _, err := source.Fetch(t.Context(), r.Status().Revision); !errors.Is(err, reload.ErrNotModified) {
					t.Errorf("Fetch of the loaded content: %v", err)
				}
			})
		}
	}
}

func TestFileNeverRests(t *testing.T) {
	t.Parallel()
	r, c, name := fromFile(t)
	write(t, name, "before")
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := os.Chtimes(name, time.Time{}, time.Now()); err != nil {
				stopped <- err
				return
			}
		}
	}()
	err := r.Reload(t.Context())
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if err != nil { // a machine that stops the writer for long enough may load it
		var failure *reload.Error
		if !errors.As(err, &failure) || !errors.Is(err, reload.ErrChanged) || failure.Refused {
			t.Errorf("the error is %v", err)
		}
		is(t, c, "")
	}
	succeeds(t, r, c, "before")
}

func TestFileDeleted(t *testing.T) {
	t.Parallel()
	r, c, name := fromFile(t)
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, fs.ErrNotExist) || failure.Refused {
		t.Error(failure)
	}
	write(t, name, "one")
	succeeds(t, r, c, "one")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, fs.ErrNotExist) {
			t.Error(failure)
		}
		is(t, c, "one")
	}
	write(t, name, "two")
	succeeds(t, r, c, "two")
}

func TestFileOfContent(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data")
	write(t, name, "before")
	content, err := reload.File(name).Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	renamed(name).Put(t, []byte("behind")) // the name stands for another file now
	file, err := io.ReadAll(content.File)
	if err != nil || string(file) != "before" {
		t.Errorf("File has %q (%v)", file, err)
	}
	body, err := io.ReadAll(content.Body)
	if err != nil && !errors.Is(err, reload.ErrChanged) || string(body) != "before" { // a rename changes the change time
		t.Errorf("Body has %q (%v), wherever File's offset is", body, err)
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := content.File.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("File is open after Close of Body: %v", err)
	}
}

// The open file is whole: the next poll finds the new one.
func TestFileReplacedDuringRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be replaced")
	}
	for name, change := range map[string]func(name string) error{
		"renamed over": func(name string) error {
			return errors.Join(os.WriteFile(name+".new", []byte("after"), 0o644), os.Rename(name+".new", name))
		},
		"removed and made": func(name string) error {
			return errors.Join(os.Remove(name), os.WriteFile(name, []byte("after"), 0o644))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "data")
			write(t, name, "before")
			c, _ := newTexts()
			loads := 0
			r := reload.New(c, reload.File(name), func(ctx context.Context, next, current *text, content *reload.Content) error {
				if loads++; loads == 1 {
					if err := change(name); err != nil {
						return err
					}
				}
				return load(ctx, next, current, content)
			}, reload.Options{Logger: quiet})
			succeeds(t, r, c, "before")
			if loads != 1 {
				t.Errorf("%d loads, want 1", loads)
			}
			succeeds(t, r, c, "after")
		})
	}
}

func TestFS(t *testing.T) {
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

func TestFSChangesDuringRead(t *testing.T) {
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

// A file can change when load has read all of it.
func TestFSChangesAfterRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "data")
	write(t, path, "before")
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, reload.FS(os.DirFS(dir), "data"), func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		if loads++; loads == 1 {
			err = errors.Join(err, os.WriteFile(path, []byte("AFTER!"), 0o644))
		}
		return err
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "AFTER!")
	if loads != 2 {
		t.Errorf("%d loads", loads)
	}
}

// A ctx that has ended tells a Fetch that waits from one that does not.
func TestFileRest(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "data")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		write(t, name, "content")
		content, err := reload.FileWithOptions(name, reload.FileOptions{Rest: -1}).Fetch(ended, "")
		if err != nil {
			t.Fatalf("without a rest, Fetch of a new file returned %v", err)
		}
		content.Body.Close()
	}
	if content, err := reload.FileWithOptions(name, reload.FileOptions{Rest: 24 * time.Hour}).Fetch(ended, ""); content != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("with a rest of a day, Fetch of a new file returned %v and %v", content, err)
	}
	source := reload.FileWithOptions(name, reload.FileOptions{})
	content, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if modified := content.Modified.Add(reload.DefaultRest); time.Now().Before(modified) {
		t.Errorf("a file was read before it was at rest, at %v", modified)
	}
	if err := content.Body.Close(); err != nil {
		t.Error(err)
	}
}
