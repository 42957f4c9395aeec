//go:build linux || darwin

package reload_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// spoolVariable has the directory of the process that TestCacheOfAnotherProcess starts.
const spoolVariable = "POOLSWAP_TEST_CHILD"

// TestCacheOfAnotherProcess has two processes with a Cache in one directory, until one is
// killed.
func TestCacheOfAnotherProcess(t *testing.T) {
	if dir := os.Getenv(spoolVariable); dir != "" {
		fake := new(reloadtest.Fake)
		push(fake, "of the child")
		cacheRestarts(t, fake, dir, "of the child")
		fmt.Println("kept")
		fake.Wait(context.Background(), "1")
	}
	t.Parallel()
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestCacheOfAnotherProcess$")
	child.Env = append(os.Environ(), spoolVariable+"="+dir)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	killed := func() {
		child.Process.Kill()
		child.Wait()
	}
	t.Cleanup(killed)
	if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "kept" {
		t.Fatalf("the child prints %q: %v", lines.Text(), lines.Err())
	}

	part := filepath.Join(dir, "1.part") // that the child is writing
	write(t, part, "")
	var lines logs
	fake := new(reloadtest.Fake)
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	warnings := func(want int) {
		t.Helper()
		if text := strings.Join(lines.all(), "\n"); strings.Count(text, "another process uses it, so nothing is kept") != want {
			t.Errorf("the log is\n%s", text)
		}
	}
	fake.Fail(errDown)
	succeeds(t, r, c, "of the child") // it may be read
	warnings(1)
	push(fake, "ours")
	push(fake, "ours, newer")
	succeeds(t, r, c, "ours, newer")
	warnings(2)
	cacheHas(t, dir, append([]string{"1.part"}, onlyTheKept...))

	killed()
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "of the child") // the other has not kept its own
	push(fake, "after its end")
	succeeds(t, r, c, "after its end")
	warnings(2)
	cacheRestarts(t, fake, dir, "after its end")
	cacheHas(t, dir, onlyTheKept)
}

// Caches of one process share the lock of a directory, under any of its names.
func TestCacheOfOneDirectoryWithManyNames(t *testing.T) {
	dir, fake, r, _ := cacheKept(t, "good")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range []string{link, ".", dir + "/"} {
		push(fake, "through %s", name)
		other, c := start(fake, name, reload.Options{})
		succeeds(t, other, c, "through "+name)
		fake.Fail(errDown)
		cacheRestarts(t, fake, dir, "through "+name)
	}
	runtime.KeepAlive(r) // with the lock
}

// The file of a lock whose Caches are gone is closed some time after their collection. Until
// then, a new Cache of the directory does not take this process for another one.
func TestLockAfterCollection(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	runtime.SetFinalizer(new([64]byte), func(*[64]byte) { close(begun); <-end }) // no other finalizer runs
	defer close(end)
	runtime.GC()
	<-begun

	dir := t.TempDir()
	for range 3 {
		if err := reload.LockDir(dir); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
}

// A directory in which no lock can be made is used without.
func TestCacheWithoutLock(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	if err := os.Mkdir(filepath.Join(dir, "lock"), 0o700); err != nil {
		t.Fatal(err)
	}
	push(fake, "content")
	cacheRestarts(t, fake, dir, "content")
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "content")
}
