package repo_test

import (
	"os/exec"
	"testing"
)

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
