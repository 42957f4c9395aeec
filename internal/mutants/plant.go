package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// plant makes the edits in dir and returns what undoes them.
func (f fault) plant(dir string) (restore func() error, err error) {
	path := filepath.Join(dir, f.file)
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	changed := string(source)
	for _, e := range f.edits {
		if n := strings.Count(changed, e.old); n != 1 {
			return nil, fmt.Errorf("fault %q: %q is in %s %d times, want once", f.name, e.old, f.file, n)
		}
		changed = strings.Replace(changed, e.old, e.new, 1)
	}
	restore = func() error { return os.WriteFile(path, source, 0o644) }
	return restore, os.WriteFile(path, []byte(changed), 0o644)
}

// copySources copies what the tests need: not the history, not the modules
// that no layer runs, and not the failing sequences that rapid left in testdata
// and would run again.
func copySources(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "bench", "bin", "docs", "examples", "model", "rapid":
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, path), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, path), data, 0o644)
	})
}
