package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEveryFaultCanBePlanted checks that the faults follow the source. A fault
// must not remove a label, or the test that compares the labels would catch it
// whatever the code does.
func TestEveryFaultCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	if err := checkModelNames(); err != nil {
		t.Error(err)
	}
	for name := range unseen {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			t.Errorf("no fault is called %q", name)
		}
	}
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	here := runtime.GOOS + "/" + runtime.GOARCH
	for _, f := range faults {
		if here == "linux/amd64" && !seenByAny(layers, f) { // elsewhere no layer builds the assembly
			t.Errorf("fault %q: no layer builds %s", f.name, f.file)
		}
		before := labels(t, s.dir, f)
		restore, err := s.plant(f)
		if err != nil {
			t.Error(err)
			continue
		}
		if planted := labels(t, s.dir, f); !slices.Equal(planted, before) {
			t.Errorf("fault %q: the labels are %v, want %v", f.name, planted, before)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryStepHasAFault: a step without one could be wrong in every run. The assembly
// does its work by itself, so its steps have faults of their own.
func TestEveryStepHasAFault(t *testing.T) {
	t.Chdir("../..")
	step := regexp.MustCompile(`(?m)^\s*[^\s/].*// \(([A-Z][0-9])\)`)
	for _, suffix := range []string{".go", ".s"} {
		files, err := filepath.Glob(filepath.Join(engine, "*"+suffix))
		if err != nil {
			t.Fatal(err)
		}
		steps := make(map[string]bool)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range step.FindAllSubmatch(text, -1) {
				steps[string(match[1])] = true
			}
		}
		if len(steps) < 9 {
			t.Errorf("only %d labels in %q", len(steps), files)
		}
		broken := make(map[string]bool)
		for _, f := range faults {
			if strings.HasSuffix(f.file, suffix) {
				for _, label := range f.labels() {
					broken[label] = true
				}
			}
		}
		if want, got := slices.Sorted(maps.Keys(steps)), slices.Sorted(maps.Keys(broken)); !slices.Equal(want, got) {
			t.Errorf("labels of steps in *%s: %v\nof faults: %v", suffix, want, got)
		}
	}
}

// labels returns the labels in the file of the fault, sorted, without
// duplicates.
func labels(t *testing.T, dir string, f fault) []string {
	text, err := os.ReadFile(filepath.Join(dir, f.file))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\([A-Z][0-9]\)`).FindAllString(string(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestEveryLayerNamesExistingTests checks that no layer skips a renamed test
// silently.
func TestEveryLayerNamesExistingTests(t *testing.T) {
	t.Chdir("../..")
	for _, l := range layers {
		if _, err := l.arguments(".", ""); err != nil {
			t.Error(err)
		}
	}
	bad := layer{name: "bad", dirs: []string{"."}, skip: []string{"TestOfNothing"}}
	if args, err := bad.arguments(".", ""); err == nil {
		t.Errorf("a layer with a test that does not exist has arguments %q", args)
	}
}

func TestAFaultIsCaughtEachTimeOrNotAtAll(t *testing.T) {
	for _, c := range []struct {
		times    int
		verdicts []verdict // of one run after the other
		want     verdict
		runs     int
	}{
		{1, []verdict{caught, survived}, caught, 1},
		{3, []verdict{caught, hangs, caught}, caught, 3},
		{3, []verdict{caught, caught, survived}, sometimes, 3},
		{3, []verdict{hangs, survived}, sometimes, 2},
		{3, []verdict{survived, caught}, survived, 1},
	} {
		runs := 0
		got, err := eachTime(c.times, func() (outcome, error) { runs++; return outcome{verdict: c.verdicts[runs-1]}, nil })
		if got.verdict != c.want || runs != c.runs || err != nil {
			t.Errorf("%d times %q: %q after %d runs, %v, want %q after %d", c.times, c.verdicts, got.verdict, runs, err, c.want, c.runs)
		}
	}
}

// TestAnUnknownInstructionIsNoCatch plants one that the interpreter of the assembly
// lacks, although it is harmless, beside a fault that it finds.
func TestAnUnknownInstructionIsNoCatch(t *testing.T) {
	if here := runtime.GOOS + "/" + runtime.GOARCH; here != "linux/amd64" {
		t.Skip("the assembly is of linux/amd64: the interpreter reads its words of 64 bits")
	}
	t.Chdir("../..")
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	stepped := layers[slices.Index(layerNames(), "stepped")]
	for _, c := range []struct {
		with string
		want verdict
	}{
		{"\tMOVQ\tAX, AX\n", survived},
		{"\tXCHGQ\tAX, AX\n", unknown},
		{"\tMOVQ\t$0, BX\n", caught},
	} {
		const last = "\tMOVQ\tBX, obj+16(FP)\n"
		restore, err := s.plant(fault{"planted", stepped.reads, []edit{{last, c.with + last}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.try(t.Context(), stepped, wanted{dirs: stepped.dirs}, time.Hour); got.verdict != c.want || err != nil {
			t.Errorf("with %q: %q, %v, want %q", c.with, got.verdict, err, c.want)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
	}
	if unknown.isCaught() {
		t.Errorf("%q is a catch", unknown)
	}
}

func TestFailedNamesTheInnermostTest(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/an_x\n--- FAIL: TestB (0.00s)\n    --- FAIL: TestB/an_x (0.00s)\nFAIL\n", "TestB/an_x"},
		{"=== RUN   TestA\n=== RUN   TestA/b\npanic: in a goroutine\n", "TestA/b"},
		{"fatal error\n", ""},
	} {
		if got := failed([]byte(c.out)); got != c.want {
			t.Errorf("failed(%q) = %q, want %q", c.out, got, c.want)
		}
	}
}

func TestCatchesNameFaultsAndLayers(t *testing.T) {
	t.Chdir("../..")
	catches, err := readCatches()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range catches {
		at := slices.IndexFunc(layers, func(l layer) bool { return l.name == c.layer })
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) || at < 0 || !slices.Contains(layers[at].dirs, c.dir) {
			t.Errorf("%s: there is no fault %q, or no layer %q with tests in %q", catchesFile, name, c.layer, c.dir)
		}
	}
}

func TestTheSchedulerMustCatchWhatItCanSee(t *testing.T) {
	type tried struct {
		layer string
		v     verdict
	}
	for _, c := range []struct {
		tried []tried
		want  string
	}{
		{nil, "fault"},
		{[]tried{{"unit", sometimes}}, "fault"},
		{[]tried{{"unit", caught}}, ""},
		{[]tried{{"unit", caught}, {"stress", survived}}, ""},
		{[]tried{{"unit", caught}, {"scheduler-brief", survived}}, "fault (scheduler)"},
		{[]tried{{"scheduler", sometimes}, {"stress", hangs}}, "fault (scheduler)"},
		{[]tried{{"scheduler-brief", survived}, {"scheduler", caught}}, ""},
		{[]tried{{"scheduler-brief", caught}, {"scheduler", survived}}, "fault (scheduler)"},
		{[]tried{{"stepped", survived}, {"scheduler", survived}}, "fault"},
	} {
		var found findings
		for _, one := range c.tried {
			chosen, err := choose(one.layer)
			if err != nil {
				t.Fatal(err)
			}
			found.add(chosen[0], one.v)
		}
		if got := found.survivor("fault"); got != c.want {
			t.Errorf("after %v: survived %q, want %q", c.tried, got, c.want)
		}
	}
}
