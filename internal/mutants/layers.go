package main

import (
	"fmt"
	"go/build"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// layer is a kind of test.
type layer struct {
	name string
	dirs []string // of the packages whose tests it runs, from the root of the repository
	tags string
	args []string
	env  []string
	run  []string // tests, or files for all tests in them; nil: all tests
	skip []string // the same, left out

	reads string // a source that the tests read and run, although the build leaves it out
}

// engine is the directory of the package that implements the protocol.
const engine = "internal/refcount"

// leaves are the directories of packages that stand on the root.
var leaves = []string{"oplog", "typedpool"}

// The unit layer skips stress tests and two more kinds. The first reads the
// source or builds programs from it, the second reads the machine code. Both can
// fail because a line is missing or different, whatever the code does.
var (
	readsSource      = []string{"labels_test.go", "pages_test.go"}
	readsMachineCode = []string{"disassembly_test.go", "fast_path_test.go", "inline_test.go"}
	stress           = []string{"stress_test.go", "stress_publish_test.go", "stress_buffers_test.go"}
	stressWidened    = []string{"stress_widened_test.go"}
)

// With the build tag poolswapsched, verify runs the Go methods in place of the
// assembly. Most faults are planted in those methods.
var layers = []layer{
	{name: "unit", dirs: slices.Concat([]string{engine, ".", "docs", "internal/stripe", "internal/seam"}, leaves), args: []string{"-test.short"}, skip: slices.Concat(readsSource, readsMachineCode, stress, stressWidened)},
	{name: "machine code", dirs: []string{engine}, run: readsMachineCode},
	{name: "stress", dirs: []string{engine}, run: stress},
	{name: "stress, widened", dirs: []string{engine}, tags: "poolswapsched", run: stressWidened},
	// Most faults show in the first states of a scenario or in a few schedules.
	{name: "scheduler, brief", dirs: []string{engine}, tags: "poolswapsched", env: []string{"POOLSWAP_STATES=6000", "POOLSWAP_SCHEDULES=1000"}, run: []string{"TestEveryInterleavingOfSmallScenarios", "TestRandomInterleavingsOfLargerScenarios", "TestOneSweeperRunsAtATime", "sched_wrong_test.go", "sched_trace_test.go"}},
	{name: "scheduler", dirs: []string{engine}, tags: "poolswapsched", run: []string{"TestEveryInterleavingOfSmallScenarios", "TestRandomInterleavingsOfLargerScenarios", "TestOneSweeperRunsAtATime", "sched_wrong_test.go", "sched_trace_test.go"}},
	{
		name: "stepped", dirs: []string{engine}, tags: "poolswapsched", reads: engine + "/read_amd64.s",
		env: []string{"POOLSWAP_STATES=2000", "POOLSWAP_SCHEDULES=500"}, run: []string{"sched_assembly_test.go"},
	},
	// -rapid.nofailfile: a sequence shortened under one fault must not run under
	// the next.
	{name: "sequences", dirs: []string{"verify"}, tags: "poolswapsched", args: []string{"-test.short", "-rapid.nofailfile"}, run: []string{"TestEverySequenceOfOperationsBehavesAsTheModel", "FuzzSequence"}},
	{name: "histories", dirs: []string{"verify"}, tags: "poolswapsched", run: []string{"TestConcurrentHistoriesAreLinearizable", "TestConcurrentHistoriesOfPublicationsAreLinearizable", "FuzzConcurrent"}},
}

// isScheduler reports whether the layer runs threads of the methods step by step.
func (l layer) isScheduler() bool { return strings.HasPrefix(l.name, "scheduler") }

// flagName is the name of the layer in the flag -layers.
func (l layer) flagName() string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(l.name)
}

func layerNames() (names []string) {
	for _, l := range layers {
		names = append(names, l.flagName())
	}
	return names
}

// choose returns the named layers, or all if names is empty.
func choose(names string) (chosen []layer, err error) {
	if names == "" {
		return layers, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		at := slices.Index(layerNames(), name)
		if at < 0 {
			return nil, fmt.Errorf("no layer %q (want some of %s)", name, strings.Join(layerNames(), ", "))
		}
		chosen = append(chosen, layers[at])
	}
	return chosen, nil
}

// sees reports whether the layer builds the file with the fault, or runs it all
// the same, and can see it.
func (l layer) sees(f fault) bool {
	if l.isScheduler() && f.isUnseen() || len(l.dirsFor(f)) == 0 {
		return false
	}
	if l.reads != "" { // it is there for the faults of that source
		return l.reads == f.file
	}
	context := build.Default
	context.BuildTags = []string{l.tags}
	match, err := context.MatchFile(filepath.Split(f.file))
	return match || err != nil // plant reports the error
}

// dirsFor returns the directories of the packages whose tests can see the fault:
// its own, if it is in one of leaves, and else all others, whose tests are enough.
func (l layer) dirsFor(f fault) (dirs []string) {
	of := path.Dir(f.file)
	isLeaf := slices.Contains(leaves, of)
	for _, dir := range l.dirs {
		if isLeaf && dir == of || !isLeaf && !slices.Contains(leaves, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// seenByAny reports whether one of the layers sees the fault.
func seenByAny(chosen []layer, f fault) bool {
	return slices.ContainsFunc(chosen, func(l layer) bool { return l.sees(f) })
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)`)

// pattern matches the wanted tests of the layer, named by themselves or by their
// files under root. It fails if a name is in none of the layer's directories, because a
// renamed test would be skipped silently.
func (l layer) pattern(root string, wanted []string) (string, error) {
	known := make(map[string][]string)
	for _, dir := range l.dirs {
		files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		if err != nil {
			return "", err
		}
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
	}
	var names []string
	for _, name := range wanted {
		if known[name] == nil {
			return "", fmt.Errorf("layer %s: %q has no test %s", l.name, l.dirs, name)
		}
		names = append(names, known[name]...)
	}
	return "^(" + strings.Join(names, "|") + ")$", nil
}

// arguments returns the arguments of the layer's test binaries, of the tests under
// root: for one test, or for all of the layer if test is "".
func (l layer) arguments(root, test string) ([]string, error) {
	args := append(slices.Clone(l.args), "-test.v", "-test.failfast", "-test.timeout=0")
	if test != "" {
		levels := strings.Split(test, "/")
		for i, name := range levels {
			levels[i] = "^" + regexp.QuoteMeta(name) + "$"
		}
		return append(args, "-test.run", strings.Join(levels, "/")), nil
	}
	for _, part := range []struct {
		flag   string
		wanted []string
	}{{"-test.run", l.run}, {"-test.skip", l.skip}} {
		if len(part.wanted) == 0 {
			continue
		}
		named, err := l.pattern(root, part.wanted)
		if err != nil {
			return nil, err
		}
		args = append(args, part.flag, named)
	}
	return args, nil
}
