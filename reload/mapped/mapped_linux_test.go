package mapped_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/mapped"
)

// mappings returns how many files in dir, deleted ones included, the kernel maps.
func mappings(t *testing.T, dir string) int {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(maps, []byte(dir+"/"))
}

func areMapped(t *testing.T, dir string, want int) {
	t.Helper()
	if n := mappings(t, dir); n != want {
		t.Errorf("%d files are mapped, want %d", n, want)
	}
}

func TestFileIsUnmappedAfterItsLastReader(t *testing.T) {
	source := &versions{t.TempDir(), "version 1"}
	r, c, pool := reloaderOf(source)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	held := c.Acquire()
	for i := 2; i <= 5; i++ {
		source.text = fmt.Sprint("version ", i)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if string(held.Value) != "version 1" {
		t.Errorf("a reader of version 1 sees %q", held.Value)
	}
	areMapped(t, source.dir, 2) // the current one, and the one that is held
	c.Release(held)
	pooltest.Eventually(t, "the first version is unmapped", func() bool { return mappings(t, source.dir) == 1 })
	c.WithAcquire(func(f *file) {
		if string(f.Value) != "version 5" {
			t.Errorf("readers see %q", f.Value)
		}
	})
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
	areMapped(t, source.dir, 0)
}

func TestRefusedFileIsUnmapped(t *testing.T) {
	source := &versions{t.TempDir(), "good"}
	r, c, pool := reloaderOf(source)
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"bad": errBad.Error(), "": "the file is empty"} {
		source.text = text
		if err := r.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
	areMapped(t, source.dir, 1)
	c.WithAcquire(func(f *file) {
		if string(f.Value) != "good" {
			t.Errorf("readers see %q", f.Value)
		}
	})
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A file that was unmapped is not unmapped again when the collector takes its File: another
// may have its address by then.
func TestFileIsUnmappedOnce(t *testing.T) {
	source := &versions{t.TempDir(), ""}
	r, c, pool := reloaderOf(source)
	for i := range 50 {
		source.text = fmt.Sprintf("version %2d", i)
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		pooltest.Eventually(t, "the version before is unmapped", func() bool { return mappings(t, source.dir) <= 1 })
		runtime.GC()
		areMapped(t, source.dir, 1)
	}
	runtime.KeepAlive(c)
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A file whose Release was forgotten is unmapped when the collector takes it.
func TestForgottenFileIsUnmapped(t *testing.T) {
	leaks := make(chan error, 1)
	pool := mapped.NewPool[[]byte](func(err error) { leaks <- err })
	c := poolswap.NewEmptyContainer(pool)
	source := &versions{t.TempDir(), "version 1"}
	r := reload.New(c, source, load, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Acquire() // and no Release
	source.text = "version 2"
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	areMapped(t, source.dir, 2)
	pooltest.Eventually(t, "the forgotten file is unmapped", func() bool {
		runtime.GC()
		return mappings(t, source.dir) == 1
	})
	runtime.KeepAlive(c) // with the current file
	pooltest.Eventually(t, "the leak is reported", func() bool { return len(leaks) == 1 })
	if err := <-leaks; !errors.As(err, new(*poolswap.LeakError)) {
		t.Errorf("the report is %v", err)
	}
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A file that is cut off in place takes the memory away from its readers, but not if
// the mapped file is the copy of a Cache.
func TestFileThatIsCutOffUnderReaders(t *testing.T) {
	for name, c := range map[string]struct {
		source func(file string) reload.Source
		faults bool
	}{
		"alone it faults":     {reload.File, true},
		"in a Cache it stays": {func(file string) reload.Source { return reload.Cache(reload.File(file), t.TempDir()) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "table")
			if err := os.WriteFile(path, []byte("version 1"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, files, pool := reloaderOf(c.source(path))
			if err := r.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			files.WithAcquire(func(f *file) {
				defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
				defer func() {
					if fault := recover(); (fault != nil) != c.faults {
						t.Errorf("the access ends with %v", fault)
					}
				}()
				if text := strings.Clone(string(f.Value)); text != "version 1" {
					t.Errorf("readers see %q", text)
				}
			})
			if err := pool.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
