package verify

import (
	"os/exec"
	"strings"
	"testing"
)

// TestDemo runs all of examples/fleet/demo, with a table that is made up.
func TestDemo(t *testing.T) {
	long(t)
	command := exec.Command("go", "run", "./examples/fleet/demo", "-rows", "2000")
	command.Dir = "../.."
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, line := range []string{
		"The table is made up.", "the canary is on hold: ", "connection refused",
		"r3 serves from its spool. It says that it is stale: ", "No answer failed, and none was mixed.",
	} {
		if !strings.Contains(string(output), line) {
			t.Errorf("the demo does not say %q:\n%s", line, output)
		}
	}
}
