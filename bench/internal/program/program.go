// Package program takes samples with the programs of bench/rivals, which are
// written in several languages and all speak alike.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// Folder is where `make rivals` builds the programs, below the folder of this
// module.
const Folder = "build/rivals"

// Sample runs a program once: threads read in that way, and a writer swaps the
// object so many times a second.
func Sample(name, way string, threads, swaps int, config measure.Config) (measure.Sample, error) {
	path, err := filepath.Abs(filepath.Join(Folder, name))
	if err != nil {
		return measure.Sample{}, err
	}
	milliseconds := max(1, config.Time.Milliseconds())
	output, err := exec.Command(path, way, strconv.Itoa(threads), strconv.FormatInt(milliseconds, 10), strconv.Itoa(swaps)).Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return measure.Sample{}, fmt.Errorf("%s is not there: make rivals builds it", filepath.Join(Folder, name))
	case errors.As(err, &exit):
		return measure.Sample{}, fmt.Errorf("%s %s: %w: %s", name, way, err, strings.TrimSpace(string(exit.Stderr)))
	case err != nil:
		return measure.Sample{}, err
	}
	return parse(string(output), way)
}

// parse reads the line of a program: the way, the number of reads, and pairs of
// value and unit.
func parse(line, way string) (measure.Sample, error) {
	wrong := func(why string) (measure.Sample, error) {
		return measure.Sample{}, fmt.Errorf("%q is not a sample of %s: %s", line, way, why)
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || len(fields)%2 != 0 || fields[0] != way {
		return wrong("want the way, the number of reads, values and units")
	}
	iterations, err := strconv.Atoi(fields[1])
	if err != nil || iterations < 1 {
		return wrong("no reads")
	}
	sample := measure.Sample{Iterations: iterations, Values: map[string]float64{}}
	for i := 2; i < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return wrong(err.Error())
		}
		sample.Values[fields[i+1]] = value
	}
	if ns := sample.Values["ns/op"]; math.IsNaN(ns) || math.IsInf(ns, 0) || ns <= 0 {
		return wrong("no time for a read")
	}
	return sample, nil
}
