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
	built map[string]string        // test binaries, by directory and tags
	limit map[string]time.Duration // how long a layer may run
}

func newScratch() (*scratch, error) {
	dir, err := os.MkdirTemp("", "poolswap-mutants-")
	if err != nil {
		return nil, err
	}
	s := &scratch{dir: dir, built: make(map[string]string), limit: make(map[string]time.Duration)}
	if err := copySources(".", dir); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *scratch) remove() { _ = os.RemoveAll(s.dir) }

// copySources copies what the tests need. It leaves out the history, modules
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

// setLimits runs the layers without a fault. They must pass, and their times
// become limits: a layer that takes many times as long with a fault hangs.
func (s *scratch) setLimits(ctx context.Context, chosen []layer) error {
	const patience = 8
	for _, l := range chosen {
		s.limit[l.name] = time.Hour
		begun := time.Now()
		verdict, err := s.try(ctx, l, l.dirs)
		if err == nil && verdict != survived {
			err = errors.New("it fails without a fault")
		}
		if err != nil {
			return fmt.Errorf("layer %s: %w", l.name, err)
		}
		s.limit[l.name] = max(time.Minute, patience*time.Since(begun))
	}
	return nil
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

// verdict is what became of a fault under a layer.
type verdict string

const (
	survived  verdict = "-"
	caught    verdict = "caught"
	hangs     verdict = "hangs"
	sometimes verdict = "not each time"
	unknown   verdict = "unknown instruction" // to the interpreter of the assembly, so nothing is known of the fault
)

// ofInterpreter begins what the interpreter says of source that it cannot run.
const ofInterpreter = "unknown to the interpreter: "

// isCaught reports whether a person would have learnt of the fault, each time.
func (v verdict) isCaught() bool { return v == caught || v == hangs }

// eachTime tries so often, or until the fault is missed.
func eachTime(times int, try func() (verdict, error)) (verdict, error) {
	first, err := try()
	for i := 1; i < times && err == nil && first.isCaught(); i++ {
		var again verdict
		if again, err = try(); err == nil && !again.isCaught() {
			return sometimes, nil
		}
	}
	return first, err
}

// try runs the tests of the layer in dirs, one by one, until one fails.
func (s *scratch) try(ctx context.Context, l layer, dirs []string) (verdict, error) {
	args, err := l.arguments()
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		path, err := s.build(ctx, dir, l.tags)
		if err != nil {
			return "", err
		}
		limited, cancel := context.WithTimeout(ctx, s.limit[l.name])
		defer cancel()
		test := exec.CommandContext(limited, path, args...)
		test.Dir = filepath.Join(s.dir, dir)
		test.Env = append(os.Environ(), l.env...)
		out, err := test.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case limited.Err() != nil:
			return hangs, nil
		case errors.As(err, &exit) && bytes.Contains(out, []byte(ofInterpreter)):
			return unknown, nil
		case errors.As(err, &exit):
			return caught, nil
		case err != nil:
			return "", err
		}
	}
	return survived, nil
}
