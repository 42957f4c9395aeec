package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestEveryFaultCanBePlanted: the table of faults has to follow the source. A
// fault takes no label away: what is red because of that alone knows nothing of
// the step.
func TestEveryFaultCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	if err := checkModelNames(); err != nil {
		t.Error(err)
	}
	b, err := newBench()
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	for _, f := range faults {
		before := labels(t, b.dir, f)
		restore, err := f.plant(b.dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if planted := labels(t, b.dir, f); !slices.Equal(planted, before) {
			t.Errorf("fault %q: the labels are %v, want %v", f.name, planted, before)
		}
		if err := restore(); err != nil {
			t.Fatal(err)
		}
	}
}

// labels returns those of the file that the fault is planted in, sorted, each
// once.
func labels(t *testing.T, dir string, f fault) []string {
	text, err := os.ReadFile(filepath.Join(dir, f.file))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`\([A-Z][0-9]\)`).FindAllString(string(text), -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// TestEveryLayerNamesTestsThatThereAre: a test that was renamed is not passed
// over.
func TestEveryLayerNamesTestsThatThereAre(t *testing.T) {
	t.Chdir("../..")
	for _, l := range layers {
		if _, err := l.arguments(); err != nil {
			t.Errorf("layer %s: %v", l.name, err)
		}
	}
	bad := layer{name: "bad", dir: ".", skip: []string{"TestOfNothing"}}
	if args, err := bad.arguments(); err == nil {
		t.Errorf("a layer without the test that it names is run with %q", args)
	}
}
