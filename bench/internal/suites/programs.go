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

// contenders are the rivals in the order in which they are shown: a program of
// bench/rivals, or none for a way in Go, the name of the way, and its promise.
var contenders = []struct {
	program, way string
	promise      []string
}{
	{"", "PoolSwap", []string{"PoolSwap", "this library, Acquire and Release", "yes", "yes", "yes", "no"}},
	{"", "WithAcquire", []string{"WithAcquire", "the same around a function", "no", "yes", "yes", "no"}},
	{"", "Portable", []string{"Portable", "PoolSwap without membarrier", "yes", "yes", "yes", "no"}},
	{"", "Reader.Load", []string{"Reader.Load", "this library in a loop", "no", "at the next Load", "yes", "no"}},
	{"", "atomic.Pointer", []string{"atomic.Pointer", "Go, a new object each time", "yes", "by the collector", "no", "no"}},
	{"", "RWMutexRef", []string{"RWMutexRef", "Go, RWMutex and count", "yes", "yes", "until a collection", "yes"}},
	{"", "RBMutex", []string{"RBMutex", "Go, xsync v4.5.0", "yes", "in place", "in place", "yes"}},
	{"rust", "arc-swap", []string{"arc-swap", "Rust, arc-swap 1.9.3, load", "yes", "yes", "no", "no"}},
	{"rust", "arc-swap-cache", []string{"arc-swap-cache", "Rust, arc-swap 1.9.3, Cache", "no", "at the next load", "no", "no"}},
	{"rust", "crossbeam-epoch", []string{"crossbeam-epoch", "Rust, crossbeam-epoch 0.9.21, pin", "no", "in batches", "no", "no"}},
	{"rust", "seize", []string{"seize", "Rust, seize 0.5.1, enter", "no", "in batches", "no", "no"}},
	{"rust", "haphazard", []string{"haphazard", "Rust, haphazard 0.1.8, hazard pointer", "yes", "in batches", "no", "no"}},
	{"rust", "left-right", []string{"left-right", "Rust, left-right 0.11.8", "no", "in place", "in place", "no"}},
	{"rust", "parking-lot", []string{"parking-lot", "Rust, parking_lot 0.13.0, RwLock", "no", "in place", "in place", "yes"}},
	{"c", "urcu-memb", []string{"urcu-memb", "C, liburcu, memb", "no", "yes", "by hand", "no"}},
	{"c", "urcu-qsbr", []string{"urcu-qsbr", "C, liburcu, qsbr", "no", "yes", "by hand", "no"}},
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
	s.Promises = [][]string{{"rival", "what it is", "may pass to another thread", "freed promptly", "recycled", "a reader waits"}}
	for _, c := range contenders {
		s.Promises = append(s.Promises, c.promise)
	}
	for _, writer := range writers {
		for _, threads := range slices.Compact([]int{1, 2, max(2, runtime.NumCPU())}) {
			c := runner.Case{Name: fmt.Sprintf("threads=%d/writer=%s", threads, writer.name), Ours: "PoolSwap", Setup: 30 * time.Millisecond}
			for _, of := range contenders {
				c.Rivals = append(c.Rivals, runner.Rival{Name: of.promise[0], Sample: func(config runner.Config) (runner.Sample, error) {
					if of.program == "" {
						return sampleRead(config, of.way, threads, writer.swaps), nil
					}
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
