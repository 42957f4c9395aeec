package verify

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestDemo runs all of examples/fleet/demo, with a small table.
func TestDemo(t *testing.T) {
	long(t)
	command := exec.Command("go", "run", "./examples/fleet/demo", "-rows", "2000")
	command.Dir = "../.."
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	// The share of the canary is one replica, or by their ranks more.
	if fell := regexp.MustCompile(`Replicas that fell back to whole content: [1-3], such as r[1-3]:`); !fell.Match(output) {
		t.Errorf("the demo does not say %v:\n%s", fell, output)
	}
	for _, line := range []string{
		"it leads to other rows than those of its publisher", "connection refused",
		"r3 serves from its spool. It says that it is stale: ", "No answer failed, none was mixed, and each table is that of its revision.",
	} {
		if !strings.Contains(string(output), line) {
			t.Errorf("the demo does not say %q:\n%s", line, output)
		}
	}
}
