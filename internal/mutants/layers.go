package main

import (
	"fmt"
	"go/build/constraint"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// layer is a kind of test.
type layer struct {
	name string
	dir  string
	tags string
	args []string
	run  []string // the tests that it runs, or files, for all tests in them; none: everything
	skip []string // but for these
}

// What the unit layer leaves out beside stress. The first look at the text
// alone, or build programs from it, and the second at what the compiler and the
// assembler made of it: either would be red because a line is not there, or not
// the same, whatever the code does.
var (
	looksAtSource      = []string{"arrows_test.go", "example_all_test.go", "labels_test.go", "misuse_vet_test.go", "seeds_test.go"}
	looksAtMachineCode = []string{"disassembly_test.go", "inline_test.go", "sched_gone_test.go"}
	stresses           = []string{"stress_test.go", "stress_bulk_test.go"}
	stressesWidened    = []string{"stress_jitter_test.go", "stress_draught_test.go"}
)

// With the build tag poolswapsched, verify runs the Go methods that the
// assembly stands for, which is where most faults are planted.
var layers = []layer{
	{name: "unit", dir: ".", args: []string{"-test.short"}, skip: slices.Concat(looksAtSource, looksAtMachineCode, stresses, stressesWidened)},
	{name: "machine code", dir: ".", run: looksAtMachineCode},
	{name: "stress", dir: ".", run: stresses},
	{name: "stress, widened", dir: ".", tags: "poolswapsched", run: stressesWidened},
	{name: "scheduler", dir: ".", tags: "poolswapsched", run: []string{"TestEveryInterleavingOfSmallScenarios", "TestRandomInterleavingsOfLargerScenarios"}},
	// A sequence that was made shorter under one fault must not be run again
	// under the next.
	{name: "sequences", dir: "verify", tags: "poolswapsched", args: []string{"-test.short", "-rapid.nofailfile"}, run: []string{"TestEverySequenceOfOperationsBehavesAsTheModel", "FuzzSequence"}},
	{name: "histories", dir: "verify", tags: "poolswapsched", run: []string{"TestConcurrentHistoriesAreLinearizable", "FuzzConcurrent"}},
	{name: "injection", dir: "verify", tags: "poolswapsched", args: []string{"-test.short"}, run: []string{"TestFaultsCostNothingButWhatTheyHit"}},
}

func layerNames() (names []string) {
	for _, l := range layers {
		names = append(names, strings.NewReplacer(", ", "-", " ", "-").Replace(l.name))
	}
	return names
}

// choose returns the layers that are named, by themselves or, as verify, by
// their folder; or all.
func choose(names string) ([]layer, error) {
	if names == "" {
		return layers, nil
	}
	var chosen []layer
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for i, known := range layerNames() {
			if name == known || name == layers[i].dir {
				chosen, found = append(chosen, layers[i]), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no layer %q (%s)", name, strings.Join(layerNames(), ", "))
		}
	}
	return chosen, nil
}

// sees reports whether the file with the fault is in what the layer builds.
func (l layer) sees(f fault) (bool, error) {
	text, err := os.ReadFile(f.file)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		if !constraint.IsGoBuild(line) {
			continue
		}
		built, err := constraint.Parse(line)
		if err != nil {
			return false, err
		}
		return built.Eval(func(tag string) bool { return tag == l.tags || tag == runtime.GOOS || tag == runtime.GOARCH }), nil
	}
	return true, nil
}

// seenByAny reports whether one of the layers sees the fault.
func seenByAny(chosen []layer, f fault) (bool, error) {
	for _, l := range chosen {
		if seen, err := l.sees(f); seen || err != nil {
			return seen, err
		}
	}
	return false, nil
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)`)

// pattern matches the tests of a folder that are named, by themselves or by
// their files. It is an error if there is none of that name: what was renamed
// would be passed over.
func pattern(dir string, wanted []string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return "", err
	}
	known := make(map[string][]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for _, match := range testFunction.FindAllSubmatch(text, -1) {
			name := string(match[1])
			known[name] = []string{name}
			known[filepath.Base(file)] = append(known[filepath.Base(file)], name)
		}
	}
	var names []string
	for _, name := range wanted {
		if known[name] == nil {
			return "", fmt.Errorf("no test is called or is in %s", filepath.Join(dir, name))
		}
		names = append(names, known[name]...)
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}

// arguments are what the test binary of the layer is run with.
func (l layer) arguments() ([]string, error) {
	args := append(slices.Clone(l.args), "-test.failfast", "-test.timeout=0")
	for _, part := range []struct {
		flag   string
		wanted []string
	}{{"-test.run", l.run}, {"-test.skip", l.skip}} {
		if len(part.wanted) == 0 {
			continue
		}
		named, err := pattern(l.dir, part.wanted)
		if err != nil {
			return nil, err
		}
		args = append(args, part.flag, named)
	}
	return args, nil
}
