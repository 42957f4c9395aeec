package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// contender is a rival of the suite: a program of bench/rivals, its name for the
// way, and the promise of that way.
type contender struct {
	program, way string
	runner.Promise
}

// contenders are the rivals in the order in which they are shown.
var contenders = []contender{
	{"go", "PoolSwap", runner.Promise{Rival: "PoolSwap", Is: "this library, Acquire and Release", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "WithAcquire", runner.Promise{Rival: "WithAcquire", Is: "the same around a function", Passes: "no", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "Portable", runner.Promise{Rival: "Portable", Is: "PoolSwap without membarrier", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go-purego", "PoolSwap", runner.Promise{Rival: "Purego", Is: "the build with -tags purego", Passes: "yes", Prompt: "yes", Recycled: "yes", Waits: "no"}},
	{"go", "Reader.Load", runner.Promise{Rival: "Reader.Load", Is: "this library in a loop", Passes: "no", Prompt: "at the next Load", Recycled: "yes", Waits: "no"}},
	{"go", "atomic.Pointer", runner.Promise{Rival: "atomic.Pointer", Is: "Go, a new object each time", Passes: "yes", Prompt: "by the collector", Recycled: "no", Waits: "no"}},
	{"go", "RWMutexRef", runner.Promise{Rival: "RWMutexRef", Is: "Go, RWMutex and count", Passes: "yes", Prompt: "yes", Recycled: "until a collection", Waits: "yes"}},
	{"go", "RBMutex", runner.Promise{Rival: "RBMutex", Is: "Go, xsync v4.5.0", Passes: "yes", Prompt: "in place", Recycled: "in place", Waits: "yes"}},
	{"rust", "arc-swap", runner.Promise{Rival: "arc-swap", Is: "Rust, arc-swap 1.9.3, load", Passes: "yes", Prompt: "yes", Recycled: "no", Waits: "no"}},
	{"rust", "arc-swap-cache", runner.Promise{Rival: "arc-swap-cache", Is: "Rust, arc-swap 1.9.3, Cache", Passes: "no", Prompt: "at the next load", Recycled: "no", Waits: "no"}},
	{"rust", "crossbeam-epoch", runner.Promise{Rival: "crossbeam-epoch", Is: "Rust, crossbeam-epoch 0.9.21, pin", Passes: "no", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "seize", runner.Promise{Rival: "seize", Is: "Rust, seize 0.5.1, enter", Passes: "no", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "haphazard", runner.Promise{Rival: "haphazard", Is: "Rust, haphazard 0.1.8, hazard pointer", Passes: "yes", Prompt: "in batches", Recycled: "no", Waits: "no"}},
	{"rust", "left-right", runner.Promise{Rival: "left-right", Is: "Rust, left-right 0.11.8", Passes: "no", Prompt: "in place", Recycled: "in place", Waits: "no"}},
	{"rust", "parking-lot", runner.Promise{Rival: "parking-lot", Is: "Rust, parking_lot 0.13.0, RwLock", Passes: "no", Prompt: "in place", Recycled: "in place", Waits: "yes"}},
	{"c", "urcu-memb", runner.Promise{Rival: "urcu-memb", Is: "C, liburcu, memb", Passes: "no", Prompt: "yes", Recycled: "by hand", Waits: "no"}},
	{"c", "urcu-qsbr", runner.Promise{Rival: "urcu-qsbr", Is: "C, liburcu, qsbr", Passes: "no", Prompt: "yes", Recycled: "by hand", Waits: "no"}},
}

// programs compares a read with those of libraries in other languages.
func programs() runner.Suite {
	s := runner.Suite{
		Name:  "rivals",
		Title: "One read, beside Rust and C",
		About: "Each rival is a process of its own, whose threads do nothing but take the guard of a small object, read one word of it and give the guard " +
			"back. All check what they read. The time is that of one read of all threads together. The writer, if there is one, swaps the object up to " +
			"1,000 times a second; a rival whose writer waits for readers does fewer swaps. Objects are the most that existed at a time. urcu-qsbr tells of a " +
			"quiescent state after each read.",
		Time:      100 * time.Millisecond,
		FullTime:  200 * time.Millisecond,
		Columns:   runner.Columns("ns/op", "time/op", "core-ns/op", "per core", "cpu-ns/op", "CPU time/op", "swaps/s", "swaps/s", "objects", "objects"),
		OnRequest: true,
	}
	for _, c := range contenders {
		s.Promises = append(s.Promises, c.Promise)
	}
	for _, writer := range writers {
		for _, threads := range slices.Compact([]int{1, 2, max(2, runtime.NumCPU())}) {
			c := runner.Case{Name: fmt.Sprintf("threads=%d/writer=%s", threads, writer.name), Ours: "PoolSwap", Setup: 30 * time.Millisecond}
			for _, of := range contenders {
				c.Rivals = append(c.Rivals, runner.Rival{Name: of.Rival, Sample: func(config runner.Config) (runner.Sample, error) {
					sample, err := sampleProgram(of.program, of.way, threads, writer.swaps, config)
					if err != nil {
						return sample, err
					}
					if writer.swaps == 0 {
						delete(sample.Values, "swaps/s")
					}
					sample.Values["core-ns/op"] = sample.Values["ns/op"] * float64(min(threads, runtime.NumCPU()))
					return sample, nil
				}})
			}
			s.Cases = append(s.Cases, c)
		}
		s.Charts = append(s.Charts, bars(&s, "Time per read and core, writer: "+writer.name, "core-ns/op", "threads", "writer="+writer.name))
	}
	return s
}

// programFolder is where `make rivals` builds the programs, below the folder of
// this module.
const programFolder = "build/rivals"

// sampleProgram runs a program once: threads read in that way, and a writer swaps
// the object so many times a second.
func sampleProgram(name, way string, threads, swaps int, config runner.Config) (runner.Sample, error) {
	path, err := filepath.Abs(filepath.Join(programFolder, name))
	if err != nil {
		return runner.Sample{}, err
	}
	milliseconds := max(1, config.Time.Milliseconds())
	output, err := exec.Command(path, way, strconv.Itoa(threads), strconv.FormatInt(milliseconds, 10), strconv.Itoa(swaps)).Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return runner.Sample{}, fmt.Errorf("%s is not there: make rivals builds it", filepath.Join(programFolder, name))
	case errors.As(err, &exit):
		return runner.Sample{}, fmt.Errorf("%s %s: %w: %s", name, way, err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return runner.Sample{}, err
	}
	sample, err := parseSample(string(output), way)
	if err != nil {
		err = fmt.Errorf("%q is not a sample of %s: %w", output, way, err)
	}
	return sample, err
}

// parseSample reads the line of a program: the way, the number of reads, and pairs
// of value and unit.
func parseSample(line, way string) (sample runner.Sample, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || len(fields)%2 != 0 || fields[0] != way {
		return sample, errors.New("want the way, the number of reads, values and units")
	}
	sample.Values = make(map[string]float64)
	if sample.Iterations, err = strconv.Atoi(fields[1]); err != nil || sample.Iterations < 1 {
		return sample, errors.New("no reads")
	}
	for i := 2; i < len(fields); i += 2 {
		if sample.Values[fields[i+1]], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return sample, err
		}
	}
	if ns := sample.Values["ns/op"]; !(ns > 0) || math.IsInf(ns, 0) {
		return sample, errors.New("no time for a read")
	}
	return sample, nil
}
