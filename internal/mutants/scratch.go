package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// bench is a scratch copy of the repository and the tests built in it.
type bench struct {
	dir   string
	built map[string]string        // test binaries, by folder and tags
	limit map[string]time.Duration // how long a layer may take
}

func newBench() (*bench, error) {
	dir, err := os.MkdirTemp("", "poolswap-mutants-")
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, built: make(map[string]string), limit: make(map[string]time.Duration)}
	if err := copySources(".", dir); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// forget has the tests built anew: the source has changed.
func (b *bench) forget() { clear(b.built) }

// list plants every fault and takes it back, and says which cannot be planted.
func (b *bench) list(planted []fault) (all error) {
	for _, f := range planted {
		restore, err := f.plant(b.dir)
		if err == nil {
			err = restore()
		}
		all = errors.Join(all, err)
		fmt.Println(f.name)
	}
	return all
}

// measure runs the layers without a fault, which must pass, and gives each the
// time that it may take with one.
func (b *bench) measure(ctx context.Context, chosen []layer) error {
	const patience = 8 // a layer that takes so many times as long hangs
	for _, l := range chosen {
		b.limit[l.name] = time.Hour
		begun := time.Now()
		_, failed, err := b.try(ctx, l)
		if err == nil && failed {
			err = errors.New("it fails without any fault")
		}
		if err != nil {
			return fmt.Errorf("layer %s: %w", l.name, err)
		}
		b.limit[l.name] = max(time.Minute, patience*time.Since(begun))
	}
	return nil
}

// build returns the test binary of the layer.
func (b *bench) build(ctx context.Context, l layer) (string, error) {
	key := l.dir + " " + l.tags
	if path := b.built[key]; path != "" {
		return path, nil
	}
	path := filepath.Join(b.dir, fmt.Sprintf("layer%d.test", len(b.built)))
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-tags", l.tags, "-o", path, ".")
	compile.Dir = filepath.Join(b.dir, l.dir)
	if out, err := compile.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the tests do not compile: %w\n%s", err, out)
	}
	b.built[key] = path
	return path, nil
}

// try runs the layer and says whether it failed, as it should, and when.
func (b *bench) try(ctx context.Context, l layer) (verdict string, failed bool, err error) {
	path, err := b.build(ctx, l)
	if err != nil {
		return "", false, err
	}
	args, err := l.arguments()
	if err != nil {
		return "", false, err
	}
	limited, cancel := context.WithTimeout(ctx, b.limit[l.name])
	defer cancel()
	test := exec.CommandContext(limited, path, args...)
	test.Dir = filepath.Join(b.dir, l.dir)
	begun := time.Now()
	err = test.Run()
	took := time.Since(begun)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case limited.Err() != nil:
		return "hangs", true, nil
	case err == nil:
		return "-", false, nil
	case errors.As(err, &exit):
		return rounded(took), true, nil
	}
	return "", false, err
}

func rounded(took time.Duration) string {
	switch {
	case took < 10*time.Millisecond:
		return "<10ms"
	case took < time.Second:
		return took.Round(10 * time.Millisecond).String()
	default:
		return took.Round(100 * time.Millisecond).String()
	}
}
