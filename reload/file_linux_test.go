package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A file is not at rest because its modification time is old: cp -p and tar set
// that while they write.
func TestFileRests(t *testing.T) {
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
func TestFileFromTheFuture(t *testing.T) {
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

// overlayRefused is the message of the child process if it may not mount.
const overlayRefused = "cannot mount an overlay: "

// TestFileOnOverlay reads files of an overlay file system, as in a container:
// a change of a file of the lower layer makes a copy of it in the upper one. It
// needs the right to mount, in a user namespace at least, and runs in a process
// with mounts of its own, so that none is left. Where that is not allowed it is
// skipped, in CI too: the right to mount is the machine's, not the build's.
func TestFileOnOverlay(t *testing.T) {
	if pooltest.InChild() == "" {
		t.Parallel()
		overlayChild(t)
		return
	}
	for layers, mount := range map[string]func(t *testing.T, lower string){
		"layers on one file system":  func(*testing.T, string) {},
		"layers on two file systems": func(t *testing.T, lower string) { overlayMount(t, "tmpfs", lower, "") },
	} {
		// merged returns a directory of an overlay whose lower layer has a file.
		merged := func(t *testing.T, content string) (dir, name string) {
			root := t.TempDir()
			lower, upper, work, dir := filepath.Join(root, "lower"), filepath.Join(root, "upper"), filepath.Join(root, "work"), filepath.Join(root, "merged")
			for _, d := range []string{lower, upper, work, dir} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			mount(t, lower)
			write(t, filepath.Join(lower, "lower"), content)
			overlayMount(t, "overlay", dir, "lowerdir="+lower+",upperdir="+upper+",workdir="+work)
			return dir, filepath.Join(dir, "lower")
		}
		t.Run(layers, func(t *testing.T) {
			for how, origin := range stormOrigins {
				if layers == "layers on one file system" {
					continue // the other is less simple, and a storm takes its time
				}
				t.Run(how, func(t *testing.T) {
					t.Parallel()
					dir, name := merged(t, string(numbered(1)))
					if how == "symlink swaps" {
						name = filepath.Join(dir, "name")
					}
					storm(t, name, how, origin(dir, name))
				})
			}
			t.Run("a copy with the same content is not published", func(t *testing.T) { overlayCopied(t, merged) })
			t.Run("a file that is copied while it is read is read again", func(t *testing.T) { overlayCopiedWhileRead(t, merged) })
			t.Run("a file that is deleted and returns is loaded", func(t *testing.T) { overlayDeleted(t, merged) })
		})
	}
}

// overlayChild runs the calling test in a process that may mount.
func overlayChild(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprintf("-test.short=%t", testing.Short()))
	child.Env = append(os.Environ(), "POOLSWAP_TEST_CHILD=overlay")
	child.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		child.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		child.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		child.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	output, err := child.CombinedOutput()
	var exit *exec.ExitError
	_, why, refused := strings.Cut(string(output), overlayRefused)
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skip("a process cannot have mounts of its own: ", err)
	case refused:
		why, _, _ = strings.Cut(why, "\n")
		t.Skip(overlayRefused, why)
	case err != nil:
		t.Errorf("%v\n%s", err, output)
	case !strings.Contains(string(output), "--- PASS: "+t.Name()):
		t.Errorf("the child process ran no test:\n%s", output)
	default:
		t.Logf("%s", output)
	}
}

// overlayMount mounts a file system until the test ends.
func overlayMount(t *testing.T, kind, dir, options string) {
	t.Helper()
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		t.Fatal(overlayRefused, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}

// overlayReloader returns a Reloader of a file, and its last outcome.
func overlayReloader(name string) (*reload.Reloader, *texts, *reload.Outcome) {
	c, _ := newTexts()
	last := new(reload.Outcome)
	return reload.New(c, reload.File(name), load, reload.Options{Logger: quiet, Observe: func(e reload.Event) { *last = e.Outcome }}), c, last
}

func overlayCopied(t *testing.T, merged func(*testing.T, string) (dir, name string)) {
	_, name := merged(t, "one")
	r, c, last := overlayReloader(name)
	succeeds(t, r, c, "one")
	lower := r.Status().Revision
	for range 3 {
		if succeeds(t, r, c, "one"); *last != reload.NotModified {
			t.Errorf("the file of the lower layer: %s", *last)
		}
	}
	if err := os.Chmod(name, 0o600); err != nil { // copies it
		t.Fatal(err)
	}
	if succeeds(t, r, c, "one"); *last != reload.Unchanged {
		t.Errorf("after the copy: %s", *last)
	}
	t.Logf("revision %s became %s", lower, r.Status().Revision)
	for range 3 {
		if succeeds(t, r, c, "one"); *last != reload.NotModified {
			t.Errorf("the copy in the upper layer: %s", *last)
		}
	}
	if s := r.Status(); s.Version != 1 || s.Swaps != 1 {
		t.Errorf("the status is %+v", s)
	}
	write(t, name, "two")
	if succeeds(t, r, c, "two"); r.Status().Swaps != 2 {
		t.Errorf("the status is %+v", r.Status())
	}
}

func overlayCopiedWhileRead(t *testing.T, merged func(*testing.T, string) (dir, name string)) {
	const before = "long before"
	for change, test := range map[string]struct {
		change func(name string) error
		want   string
	}{
		"rewritten":   {func(name string) error { return os.WriteFile(name, []byte("LONG AFTER!"), 0o644) }, "LONG AFTER!"},
		"longer":      {func(name string) error { return appendTo(name, ", and more") }, before + ", and more"},
		"shorter":     {func(name string) error { return os.Truncate(name, 6) }, "long b"},
		"copied only": {func(name string) error { return os.Chmod(name, 0o600) }, before},
	} {
		t.Run(change, func(t *testing.T) {
			_, name := merged(t, before)
			c, _ := newTexts()
			loads := 0
			r := reload.New(c, reload.File(name), func(_ context.Context, next, _ *text, content *reload.Content) error {
				loads++
				next.value = make([]byte, 4)
				if _, err := io.ReadFull(content.Body, next.value); err != nil {
					return err
				}
				if loads == 1 {
					if err := test.change(name); err != nil {
						return err
					}
				}
				rest, err := io.ReadAll(content.Body)
				next.value = append(next.value, rest...)
				return err
			}, reload.Options{Logger: quiet})
			if succeeds(t, r, c, test.want); loads != 2 {
				t.Errorf("%d loads", loads)
			}
		})
	}
}

func overlayDeleted(t *testing.T, merged func(*testing.T, string) (dir, name string)) {
	_, name := merged(t, "one")
	r, c, last := overlayReloader(name)
	succeeds(t, r, c, "one")
	renamed(name).Remove(t) // an entry in the upper layer hides it
	for range 2 {
		if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, fs.ErrNotExist) || failure.Refused {
			t.Error(failure)
		}
		is(t, c, "one")
	}
	renamed(name).Put(t, []byte("one"))
	if succeeds(t, r, c, "one"); *last != reload.Unchanged {
		t.Errorf("it returns with the same content: %s", *last)
	}
	renamed(name).Remove(t)
	failsWith(t, r, reload.Fetching)
	renamed(name).Put(t, []byte("two"))
	if succeeds(t, r, c, "two"); *last != reload.Loaded {
		t.Errorf("it returns with other content: %s", *last)
	}
}

func TestCacheOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("mounting a tmpfs needs root:", err)
	}
	t.Cleanup(func() {
		if left := openBelow(dir); len(left) > 0 {
			t.Errorf("files are open: %q", left)
		}
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil { // the lock is open
			t.Error(err)
		}
	})
	fake := new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	fake.Push([]byte(strings.Repeat("0123456789abcdef", 1<<13)))
	for range 3 {
		if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, syscall.ENOSPC) || failure.Refused {
			t.Errorf("the error is %v", failure)
		}
	}
	is(t, c, "good")
	cacheHas(t, dir, onlyTheKept)
	fake.Fail(errDown)
	r, c = cacheRestarts(t, fake, dir, "good")
	push(fake, "fits")
	succeeds(t, r, c, "fits")
}

func TestCacheReadOnly(t *testing.T) {
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if os.Geteuid() == 0 { // root may write all the same, but not to a read-only mount
		if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
			t.Skip("mounting needs a capability:", err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(dir, 0); err != nil {
				t.Error(err)
			}
		})
		if err := syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "new")
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, syscall.EROFS) && !errors.Is(failure, os.ErrPermission) {
		t.Error(failure)
	}
	is(t, c, "good")
}
