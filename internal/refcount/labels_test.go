package refcount_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// labelForm matches the label of a step of the protocol.
var labelForm = regexp.MustCompile(`\([ABCDGHKLNPRSTUVWX][0-9]\)`)

// argument matches the first line of a comment that argues why a step is sound:
// it begins with the label.
var argument = regexp.MustCompile(`(?m)^\s*// \([A-Z][0-9]\) [A-Z].*$`)

// TestEveryStepIsArguedAndModelled compares the labels of statements with the
// labels of the arguments beside them and of the model's statements. Comments
// and planted bugs of the model do not count. A table in the model's README
// lists the steps that it leaves out.
func TestEveryStepIsArguedAndModelled(t *testing.T) {
	step := regexp.MustCompile(`(?m)^\s*[^\s/].*// \([A-Z][0-9]\).*$`)
	steps := labels(t, step, "*.go", "*.s")
	if len(steps) < 20 {
		t.Fatalf("only %d labels in the sources: %v", len(steps), steps)
	}
	if argued := labels(t, argument, "*.go"); !slices.Equal(steps, argued) {
		t.Errorf("labels of statements: %v\nof arguments: %v", steps, argued)
	}
	statement := regexp.MustCompile(`(?m)^[ \t]*[^\s/*#].*/\*.*$`)
	modelled := labels(t, statement, "../../model/*.pml")
	row := regexp.MustCompile(`(?m)^\| \([A-Z][0-9]\) \|`)
	omitted := labels(t, row, "../../model/README.md")
	if both := slices.Sorted(slices.Values(slices.Concat(modelled, omitted))); !slices.Equal(steps, both) {
		t.Errorf("labels in the sources: %v\nin the model: %v\nlisted as omitted: %v", steps, modelled, omitted)
	}
	if len(omitted) > 5 {
		t.Errorf("the model omits too much: %v", omitted)
	}
	for _, label := range labels(t, nil, "../../docs/*.md", "*.go", "*.s") {
		if !slices.Contains(steps, label) {
			t.Errorf("%s is mentioned, but no step has this label", label)
		}
	}
}

// TestEveryStepIsArguedOnce: two arguments for one step would drift apart.
func TestEveryStepIsArguedOnce(t *testing.T) {
	seen := map[string]string{}
	for _, file := range sources(t, "*.go") {
		for _, line := range argument.FindAllString(read(t, file), -1) {
			label := labelForm.FindString(line)
			if seen[label] != "" {
				t.Errorf("%s is argued in %s and in %s", label, seen[label], file)
			}
			seen[label] = file
		}
	}
}

// TestEveryTransitionHasALabel: every statement that writes a word of the
// protocol carries the label of its step.
func TestEveryTransitionHasALabel(t *testing.T) {
	transition := regexp.MustCompile(`(?m)^.*(\.(Store|Swap|CompareAndSwap)|\bobjects\.change)\(.*$`)
	const closed = "s.current.Store(new(Object))" // of Closed, at start-up
	found := 0
	for _, file := range sources(t, "*.go") {
		for _, line := range transition.FindAllString(read(t, file), -1) {
			line = strings.TrimSpace(line)
			found++
			if !labelForm.MatchString(line) && !strings.HasPrefix(line, closed) {
				t.Errorf("%s: no label: %s", file, line)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d transitions were found", found)
	}
}

// TestTheAssemblyTakesTheStepsOfTheMethods checks the order of the labels in
// the assembly.
func TestTheAssemblyTakesTheStepsOfTheMethods(t *testing.T) {
	assembly := read(t, "read_amd64.s")
	acquire, release, ok := strings.Cut(assembly, "TEXT ·Release")
	if !ok {
		t.Fatal("read_amd64.s has no release")
	}
	for _, routine := range []struct{ name, text, want string }{
		{"acquire", acquire, "(A1) (A2) (A3) (A4) (A5)"},
		{"release", release, "(R1) (R2) (R3) (R4)"},
	} {
		if got := strings.Join(labelForm.FindAllString(routine.text, -1), " "); got != routine.want {
			t.Errorf("%s takes the steps %s, want %s", routine.name, got, routine.want)
		}
	}
}

// sources returns the files that match one of the globs, without tests.
func sources(t *testing.T, globs ...string) (files []string) {
	t.Helper()
	for _, glob := range globs {
		found, err := filepath.Glob(glob)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %d files", glob, err, len(found))
		}
		files = append(files, slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, "_test.go") })...)
	}
	return files
}

// labels returns the labels in the files, sorted, each once. If within is set,
// only the text that it matches counts.
func labels(t *testing.T, within *regexp.Regexp, globs ...string) []string {
	t.Helper()
	found := make(map[string]bool)
	for _, file := range sources(t, globs...) {
		text := read(t, file)
		if within != nil {
			text = strings.Join(within.FindAllString(text, -1), "\n")
		}
		for _, l := range labelForm.FindAllString(text, -1) {
			found[l] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
