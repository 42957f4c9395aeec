package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// scratch is a copy of the repository and the test binaries built in it.
type scratch struct {
	dir   string
	built map[string]string // test binaries, by directory and tags
}

func newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp("", "poolswap-mutants-")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, built: make(map[string]string)}
	if err := copySources(".", dir); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *scratch) remove() { _ = os.RemoveAll(s.dir) }

// copySources copies the files that the tests need. It leaves out the history, modules
// that no layer runs, and the failing sequences that rapid stored in testdata
// and would run again.
func copySources(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "bench", "bin", "examples", "model", "rapid":
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

// plant makes the edits of f and returns a function that undoes them.
func (s *scratch) plant(f fault) (restore func() error, err error) {
	path := filepath.Join(s.dir, f.file)
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
	clear(s.built)
	restore = func() error { return os.WriteFile(path, source, 0o644) }
	return restore, os.WriteFile(path, []byte(changed), 0o644)
}

// quickly returns flags that halve the time to build: most faults are caught in
// less. Of the builds with a tag nothing reads the machine code.
func quickly(tags string) []string {
	if tags == "" {
		return []string{"-gcflags=-dwarf=false"}
	}
	return []string{"-gcflags=-dwarf=false -l", "-ldflags=-s -w"}
}

// build returns the test binary of the package in dir. As -trimpath leaves the
// path of this copy out, the compiled packages of one run serve the next.
func (s *scratch) build(ctx context.Context, dir, tags string) (string, error) {
	key := dir + " " + tags
	if path := s.built[key]; path != "" {
		return path, nil
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%d.test", len(s.built)))
	compile := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-c", "-vet=off", "-trimpath", "-tags", tags, "-o", path}, quickly(tags), []string{"."})...)
	compile.Dir = filepath.Join(s.dir, dir)
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the tests do not compile: %w\n%s", err, out)
	}
	s.built[key] = path
	return path, nil
}

// try runs the wanted tests of l, one directory after the other, until one fails,
// or runs longer than limit.
func (s *scratch) try(ctx context.Context, l layer, w wanted, limit time.Duration) (outcome, error) {
	for _, dir := range w.dirs {
		args, err := l.arguments(s.dir, w.test)
		if err != nil {
			return outcome{}, err
		}
		path, err := s.build(ctx, dir, l.tags)
		if err != nil {
			return outcome{}, err
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		test := exec.CommandContext(limited, path, args...)
		test.Dir = filepath.Join(s.dir, dir)
		test.Env = append(os.Environ(), l.env...)
		out, err := test.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return outcome{}, ctx.Err()
		case limited.Err() != nil:
			return outcome{hangs, dir, failed(out)}, nil
		case errors.As(err, &exit) && bytes.Contains(out, []byte(ofInterpreter)):
			return outcome{verdict: unknown}, nil
		case errors.As(err, &exit):
			return outcome{caught, dir, failed(out)}, nil
		case err != nil:
			return outcome{}, err
		}
	}
	return outcome{verdict: survived}, nil
}
