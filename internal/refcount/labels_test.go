package poolswap_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// labelForm is how a step of the protocol is named, everywhere.
var labelForm = regexp.MustCompile(`\([ABCGKLNPRSTU][0-9]\)`)

// TestEveryStepIsNamedAlikeInSourceDocumentationAndModel compares the labels in
// the sources with the headings of docs/internals.md that discharge them and
// with the actions of the model: its statements, not remarks nor planted bugs.
// What the model leaves out stands in a table of its README, under its label.
func TestEveryStepIsNamedAlikeInSourceDocumentationAndModel(t *testing.T) {
	source := labels(t, nil, "*.go", "*.s")
	if len(source) < 20 {
		t.Fatalf("only %d labels in the sources: %v", len(source), source)
	}
	heading := regexp.MustCompile(`(?m)^####.*$`)
	if argued := labels(t, heading, "docs/internals.md"); !slices.Equal(source, argued) {
		t.Errorf("labels in the sources: %v\nin the headings of docs/internals.md: %v", source, argued)
	}
	statement := regexp.MustCompile(`(?m)^[ \t]*[^ \t/*#].*/\*.*$`)
	modelled := labels(t, statement, "model/*.pml")
	row := regexp.MustCompile(`(?m)^\| \([A-Z][0-9]\) \|`)
	left := labels(t, row, "model/README.md")
	if both := slices.Sorted(slices.Values(slices.Concat(modelled, left))); !slices.Equal(source, both) {
		t.Errorf("labels in the sources: %v\nin the model: %v\nand said to be left out of it: %v", source, modelled, left)
	}
	if len(left) > 5 {
		t.Errorf("the model leaves out %v", left)
	}
}

// TestEveryTransitionHasALabel: what writes a word of the protocol, in whatever
// file, says which step it is.
func TestEveryTransitionHasALabel(t *testing.T) {
	transition := regexp.MustCompile(`(?m)^.*(\.(Store|Swap|CompareAndSwap)|\blive\.Add)\(.*$`)
	const closed = "s.current.Store(new(Ref))" // of closedSlot, at start-up
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, line := range transition.FindAllString(read(t, file), -1) {
			line = strings.TrimSpace(line)
			found++
			if !labelForm.MatchString(line) && line != closed {
				t.Errorf("%s: no label: %s", file, line)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d transitions were found", found)
	}
}

// TestTheAssemblyTakesTheStepsOfTheMethods compares the order of the labels.
func TestTheAssemblyTakesTheStepsOfTheMethods(t *testing.T) {
	assembly := read(t, "fast_amd64.s")
	acquire, release, ok := strings.Cut(assembly, "TEXT ·release")
	if !ok {
		t.Fatal("fast_amd64.s has no release")
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

// labels returns those in the files, sorted, each once; with within, only those
// in what it matches.
func labels(t *testing.T, within *regexp.Regexp, globs ...string) []string {
	found := make(map[string]bool)
	for _, glob := range globs {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d files", glob, err, len(files))
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text := read(t, file)
			if within != nil {
				text = strings.Join(within.FindAllString(text, -1), "\n")
			}
			for _, l := range labelForm.FindAllString(text, -1) {
				found[l] = true
			}
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
