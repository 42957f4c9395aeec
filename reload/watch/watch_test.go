package watch_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
	"github.com/poolswap/poolswap/reload/watch"
)

// file is a file that is replaced by rename.
type file string

func (f file) Put(t testing.TB, content []byte) {
	t.Helper()
	part := string(f) + ".part"
	if err := errors.Join(os.WriteFile(part, content, 0o644), os.Rename(part, string(f))); err != nil {
		t.Fatal(err)
	}
}

func (f file) Remove(t testing.TB) {
	t.Helper()
	if err := os.Remove(string(f)); err != nil {
		t.Fatal(err)
	}
}

func newWatcher(t testing.TB) *watch.Watcher {
	w, err := watch.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestAWatchedFileConforms(t *testing.T) {
	reloadtest.TestSource(t, func(t *testing.T) (reload.Source, reloadtest.Origin) {
		name := filepath.Join(t.TempDir(), "data")
		return newWatcher(t).File(name), file(name)
	})
}

// text is an object that holds the loaded content.
type text struct {
	poolswap.Ref
	value string
}

// following returns a container that follows a watched file, without polls.
func following(t *testing.T, w *watch.Watcher, name string) *poolswap.Container[text, *text] {
	return followingSource(t, w.File(name))
}

// followingSource returns a container that follows a source, without polls.
func followingSource(t *testing.T, source reload.Source) *poolswap.Container[text, *text] {
	c, r := newReloader(source)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

// newReloader returns a Reloader without polls, and its container.
func newReloader(source reload.Source) (*poolswap.Container[text, *text], *reload.Reloader) {
	c := poolswap.NewEmptyContainer(poolswap.NewPool(func() *text { return new(text) }, nil))
	return c, reload.New(c, source, func(_ context.Context, next, _ *text, content *reload.Content) error {
		all, err := io.ReadAll(content.Body)
		next.value = string(all)
		return err
	}, reload.Options{Every: 1000 * time.Hour, Logger: slog.New(slog.DiscardHandler)})
}

// becomes waits until readers get want.
func becomes(t *testing.T, c *poolswap.Container[text, *text], want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, obj := range c.Versions(ctx) {
		if obj.value == want {
			return
		}
	}
	t.Fatalf("readers never got %q", want)
}

func TestEachWayOfReplacingAFileGivesAHint(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	dir := t.TempDir()
	name := filepath.Join(dir, "data")
	f := file(name)
	f.Put(t, []byte("first"))
	c := following(t, w, name)
	becomes(t, c, "first")
	for range 5 { // the first hint may be that of the watch that begins
		f.Put(t, []byte("renamed"))
		becomes(t, c, "renamed")
		if err := os.WriteFile(name, []byte("rewritten in place"), 0o644); err != nil {
			t.Fatal(err)
		}
		becomes(t, c, "rewritten in place")
		f.Remove(t)
		f.Put(t, []byte("back"))
		becomes(t, c, "back")
	}
}

func TestALinkThatIsSwappedBesideTheFileGivesAHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(version, content string) {
		t.Helper()
		if err := errors.Join(
			os.Mkdir(filepath.Join(dir, version), 0o755),
			os.WriteFile(filepath.Join(dir, version, "name"), []byte(content), 0o644),
			os.Symlink(version, filepath.Join(dir, "..tmp")),
			os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")),
		); err != nil {
			t.Fatal(err)
		}
	}
	put("..1", "first")
	if err := os.Symlink(filepath.Join("..data", "name"), filepath.Join(dir, "name")); err != nil {
		t.Fatal(err)
	}
	c := following(t, newWatcher(t), filepath.Join(dir, "name"))
	becomes(t, c, "first")
	put("..2", "second")
	becomes(t, c, "second")
	put("..3", "third")
	becomes(t, c, "third")
}

func TestTwoFilesOfADirectoryShareAWatch(t *testing.T) {
	t.Parallel()
	w := newWatcher(t)
	dir := t.TempDir()
	a, b := file(filepath.Join(dir, "a")), file(filepath.Join(dir, "b"))
	a.Put(t, []byte("a1"))
	b.Put(t, []byte("b1"))
	ca, cb := following(t, w, string(a)), following(t, w, string(b))
	becomes(t, ca, "a1")
	becomes(t, cb, "b1")
	a.Put(t, []byte("a2"))
	b.Put(t, []byte("b2"))
	becomes(t, ca, "a2")
	becomes(t, cb, "b2")
}

func TestWaitFailsWithoutTheDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "later")
	waiter := newWatcher(t).File(filepath.Join(dir, "data")).(reload.Waiter)
	if err := waiter.Wait(t.Context(), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Wait returned %v", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := waiter.Wait(t.Context(), ""); err != nil { // the watch begins
		t.Error(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for err := error(nil); !errors.Is(err, os.ErrNotExist); { // the hints of the removal, and then no directory
		if err = waiter.Wait(t.Context(), ""); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func TestWaitAfterCloseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := watch.New()
	if err != nil {
		t.Fatal(err)
	}
	waiter := w.File(filepath.Join(dir, "data")).(reload.Waiter)
	if err := waiter.Wait(t.Context(), ""); err != nil { // the watch begins
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := waiter.Wait(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait returned %v", err)
	}
}
