package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// fromFile returns a Reloader of a new file, and the file's name.
func fromFile(t *testing.T) (*reload.Reloader, *texts, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data")
	c, _ := newTexts()
	return reload.New(c, reload.File(name), load, reload.Options{Logger: quiet}), c, name
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
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
		for _, when := range []string{"before its first byte is read", "half-way", "when it was read"} {
			t.Run(name+" "+when, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "data")
				write(t, path, long)
				c, _ := newTexts()
				loads := 0
				source := reload.File(path)
				r := reload.New(c, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
					loads++
					before := map[string]int{"before its first byte is read": 0, "half-way": 4, "when it was read": len(long)}[when]
					next.value = make([]byte, before)
					if loads > 1 {
						before, next.value = 0, nil
					}
					if _, err := io.ReadFull(content.Body, next.value); err != nil {
						return err
					}
					if loads == 1 {
						if err := test.change(path); err != nil {
							return err
						}
					}
					rest, err := io.ReadAll(content.Body)
					next.value = append(next.value, rest...)
					return err
				}, reload.Options{Logger: quiet})
				succeeds(t, r, c, test.want)
				if s := r.Status(); loads != 2 || s.Attempts != 1 || s.Failures != 0 || s.Size != int64(len(test.want)) {
					t.Errorf("%d loads, status %+v", loads, s)
				}
				if _, err := source.Fetch(t.Context(), r.Status().Revision); !errors.Is(err, reload.ErrNotModified) {
					t.Errorf("Fetch of what is loaded: %v", err)
				}
			})
		}
	}
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func TestAFileThatNeverRestsIsNotLoaded(t *testing.T) {
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

func TestAFileThatIsDeletedAndReturnsIsLoaded(t *testing.T) {
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

func TestTheFileOfTheContentIsTheOneThatIsRead(t *testing.T) {
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

// numbered returns content that says its number and its SHA-256.
func numbered(number int) []byte {
	rows := bytes.Repeat(fmt.Appendf(nil, "row of content %d\n", number), 1000-number%2*500)
	return fmt.Appendf(rows, "%x %d", sha256.Sum256(rows), number)
}

// numberOf returns the number of whole content, and an error for torn content.
func numberOf(content []byte) (number int, err error) {
	end := bytes.LastIndexByte(content, '\n') + 1
	var sum string
	if _, err := fmt.Sscan(string(content[end:]), &sum, &number); err != nil {
		return 0, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(content[:end])) != sum {
		return 0, errors.New("the checksum is wrong")
	}
	return number, nil
}

// overwritten writes a file in place with one call and without emptying it.
type overwritten struct{ renamed }

func (f overwritten) Put(t testing.TB, content []byte) {
	t.Helper()
	file, err := os.OpenFile(string(f.renamed), os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(content, bytes.Repeat([]byte(" "), 30_000-len(content))...)); err != nil {
		t.Fatal(err)
	}
}

// stormOrigins are the ways to change a file, name in dir.
var stormOrigins = map[string]func(dir, name string) reloadtest.Origin{
	"renames":                   func(_, name string) reloadtest.Origin { return renamed(name) },
	"rewrites in place":         func(_, name string) reloadtest.Origin { return rewritten{renamed(name)} },
	"rewrites without emptying": func(_, name string) reloadtest.Origin { return overwritten{renamed(name)} },
	"symlink swaps":             func(dir, _ string) reloadtest.Origin { return linked{dir, new(int)} },
}

func TestStormsOfChanges(t *testing.T) {
	t.Parallel()
	dirs := map[string]func(t *testing.T) string{"temporary directory": func(t *testing.T) string { return t.TempDir() }}
	if _, err := os.Stat("/dev/shm"); err == nil {
		dirs["tmpfs"] = func(t *testing.T) string {
			dir, err := os.MkdirTemp("/dev/shm", "reload") //nolint:usetesting // memory, and no disk to wait for
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	for where, dir := range dirs {
		for how, origin := range stormOrigins {
			t.Run(how+" in a "+where, func(t *testing.T) {
				t.Parallel()
				dir := dir(t)
				name := filepath.Join(dir, "name")
				storm(t, name, origin(dir, name), how != "rewrites in place")
			})
		}
	}
}

// storm changes a file again and again while a Reloader runs. Now and then it
// waits until the newest content is loaded. The decoder looks for torn content
// only if a change can be seen half done for as long as the machine stops the
// writer; what readers get must be whole in any case.
func storm(t *testing.T, name string, origin reloadtest.Origin, atomic bool) {
	changes, every := 2000, 200
	if testing.Short() {
		changes = 200
	}
	c, pool := newTexts()
	r := reload.New(c, reload.File(name), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if err := load(ctx, next, current, content); err != nil || atomic {
			return err
		}
		_, err := numberOf(next.value)
		return err
	}, reload.Options{Every: time.Millisecond, Logger: quiet})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- r.Run(ctx) }()
	go func() {
		var version uint64
		for {
			var err error
			if version, err = c.Wait(ctx, version); err != nil {
				ended <- err
				return
			}
			obj := c.Acquire()
			number, err := numberOf(obj.value)
			if err != nil {
				t.Errorf("version %d, after content %d, is torn: %v", version, number, err)
			}
			c.Release(obj)
		}
	}()
	for i := range changes {
		origin.Put(t, numbered(i))
		if i%every == every-1 {
			pooltest.Eventually(t, fmt.Sprint("content ", i, " is loaded"), func() bool {
				number, err := numberOf([]byte(current(c)))
				if err == nil && number == i {
					return true
				}
				time.Sleep(time.Millisecond) // leaves the processors to others
				return false
			})
		}
	}
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if err := pool.Close(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
	if s := r.Status(); s.Swaps < uint64(changes/every) {
		t.Errorf("%d contents were loaded", s.Swaps)
	}
}
