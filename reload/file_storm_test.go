package reload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

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
				storm(t, name, how, origin(dir, name))
			})
		}
	}
}

// rests is how long a File looks unchanged before it is read, less a tick of
// the clock that stamps changes.
const rests = 40 * time.Millisecond

// storm changes a file again and again while a Reloader runs. Now and then it
// waits until the newest content is loaded. What readers get must be whole. The
// decoder looks for torn content if a file is emptied first. A rewrite with one
// call is whole as well, but while the machine stops the writer for longer than
// the file rests.
func storm(t *testing.T, name, how string, origin reloadtest.Origin) {
	changes, every := 2000, 200
	if testing.Short() {
		changes = 200
	}
	c, pool := newTexts()
	r := reload.New(c, reload.File(name), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if err := load(ctx, next, current, content); err != nil || how != "rewrites in place" {
			return err
		}
		_, err := numberOf(next.value)
		return err
	}, reload.Options{Every: time.Millisecond, Logger: quiet})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- r.Run(ctx) }()
	var torn []error
	go func() {
		var version uint64
		for {
			var err error
			if version, err = c.Wait(ctx, version); err != nil {
				ended <- err
				return
			}
			obj := c.Acquire()
			if _, err := numberOf(obj.value); err != nil {
				torn = append(torn, fmt.Errorf("version %d is torn: %w", version, err))
			}
			c.Release(obj)
		}
	}()
	stopped := false // the machine stopped the writer in the middle
	put := func(number int) {
		begun := time.Now()
		origin.Put(t, numbered(number))
		stopped = stopped || how == "rewrites without emptying" && time.Since(begun) > rests
	}
	repaired := uint64(math.MaxUint64) // a torn version after which the file was written again
	for i := range changes {
		put(i)
		if i%every == every-1 {
			pooltest.Eventually(t, fmt.Sprint("content ", i, " is loaded"), func() bool {
				number, err := numberOf([]byte(current(c)))
				if err == nil && number == i {
					return true
				}
				if torn := c.Version(); err != nil && stopped && torn != repaired {
					put(i)
					repaired = torn
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
	if err := errors.Join(torn...); err != nil && stopped {
		t.Log("a writer was stopped: ", err)
	} else if err != nil {
		t.Error(err)
	}
	if err := pool.Close(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
	if s := r.Status(); s.Swaps < uint64(changes/every) {
		t.Errorf("%d contents were loaded", s.Swaps)
	}
}
