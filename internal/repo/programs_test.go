package repo_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestGoVetReportsCopies runs go vet on a package that copies each type that
// must not be copied, and compares the diagnostics with the comments in its
// source.
func TestGoVetReportsCopies(t *testing.T) {
	readsTheSource(t)
	source, err := os.ReadFile("testdata/copies/copies.go")
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "vet", "./testdata/copies").CombinedOutput()
	if err == nil {
		t.Fatalf("go vet found nothing to report:\n%s", output)
	}

	diagnostic := regexp.MustCompile(`(?m)^.*copies\.go:(\d+):\d+: (.*)$`)
	reported := map[string]string{} // by line number
	for _, match := range diagnostic.FindAllStringSubmatch(string(output), -1) {
		reported[match[1]] = match[2]
	}
	for i, line := range strings.Split(string(source), "\n") {
		number := strconv.Itoa(i + 1)
		got, ok := reported[number]
		_, typeName, want := strings.Cut(line, "// copies ")
		switch {
		case want && !ok:
			t.Errorf("line %s: go vet does not report the copy: %s", number, line)
		case want && !regexp.MustCompile(`poolswap\.`+typeName+`\b`).MatchString(got):
			t.Errorf("line %s: go vet reports %q, which does not name %s", number, got, typeName)
		case !want && ok:
			t.Errorf("line %s: go vet reports %q, but the line copies nothing", number, got)
		}
		delete(reported, number)
	}
	if len(reported) > 0 {
		t.Errorf("reported outside the file: %v", reported)
	}
}

// TestPublishedCodeRuns runs the code of the README that was published first.
func TestPublishedCodeRuns(t *testing.T) {
	output, err := exec.Command("go", "run", "./testdata/seeds").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const each = "an empty container\nnew_value\n" +
		"a container with an object\nvalue\nnew_value\nnew_value\n"
	if want := each + each + "objects made: 3\n"; string(output) != want {
		t.Errorf("it printed\n%s\nwant\n%s", output, want)
	}
}
