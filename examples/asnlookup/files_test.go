package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

func TestAChangeOfEitherFileIsAChangeOfTheTable(t *testing.T) {
	first, second := tempTable(t, "1.0.0.0,1.0.0.9,1,x\n"), tempTable(t, "2.0.0.0,2.0.0.9,1,x\n")
	s, _ := loadedService(t, 100, first, second)
	replaceFile(t, second, "2.0.0.0,2.0.0.9,2,x\n")
	mustReload(t, s)
	replaceFile(t, first, "1.0.0.0,1.0.0.9,3,x\n")
	mustReload(t, s)
	for ip, want := range map[string]string{"1.0.0.1": `"asn":3,`, "2.0.0.1": `"asn":2,`} {
		if w := do(s, "GET", "/lookup?ip="+ip, ""); !strings.Contains(w.Body.String(), want) || !strings.Contains(w.Body.String(), `"version":3}`) {
			t.Errorf("%s: %s, want %s", ip, w.Body, want)
		}
	}
	replaceFile(t, second, "2.0.0.0,2.0.0.9,2,x\n3.0.0.0\n")
	if err := s.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), second+":2: ") {
		t.Errorf("of the second file's second line: %v", err)
	}
	replaceFile(t, second, "")
	if err := s.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), second+":1: the file is empty") {
		t.Errorf("of a second file without content: %v", err)
	}
	replaceFile(t, second, "2.0.0.0,2.0.0.9,2,x\n")
	replaceFile(t, first, "1.0.0.0,1.0.0.9,3,x") // the rest of the row is not in the second file
	if err := s.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), first+":1: the last line does not end in a newline") {
		t.Errorf("of a first file that is cut short: %v", err)
	}
}

// openFiles returns how often this process has a file open, or skips the test
// where the system does not tell.
func openFiles(t *testing.T, path string) (n int) {
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, d := range descriptors {
		if name, err := os.Readlink("/proc/self/fd/" + d.Name()); err == nil && strings.HasPrefix(name, path) {
			n++
		}
	}
	return n
}

func TestNoReloadLeavesAFileOpen(t *testing.T) {
	first, second := tempTable(t, "1.0.0.0,1.0.0.9,1,x\n"), tempTable(t, "2.0.0.0,2.0.0.9,1,x\n")
	s, _ := loadedService(t, 100, first, second)
	mustReload(t, s) // not modified
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	tryReload(s)
	replaceFile(t, second, "broken\n")
	tryReload(s)
	if loaded, notModified, failed := s.outcomes(reload.Loaded), s.outcomes(reload.NotModified), s.outcomes(reload.Failed); loaded != 1 || notModified != 1 || failed != 2 {
		t.Errorf("%d loads, %d that were not modified, %d failures", loaded, notModified, failed)
	}
	if n := openFiles(t, first) + openFiles(t, second); n > 0 {
		t.Errorf("%d files are left open", n)
	}
}

func TestFilesThatCannotBeTablesAreRefused(t *testing.T) {
	big := filepath.Join(t.TempDir(), "big.csv")
	file, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(maxBytes + 1); err != nil {
		t.Skip(err)
	}
	for path, says := range map[string]string{
		big:                     "larger than Options.MaxBytes",
		t.TempDir():             "is no regular file",
		"/no/such/table.csv":    "/no/such/table.csv: no such file or directory",
		tempTable(t, "") + "/x": "not a directory",
	} {
		s, _ := newTestService(100, path)
		if err := s.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
