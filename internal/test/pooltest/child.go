package pooltest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childEnv carries the task of a test that runs in a child process.
const childEnv = "POOLSWAP_TEST_CHILD"

// InChild returns the task of this child process, or "" in the parent.
func InChild() string { return os.Getenv(childEnv) }

// RunChild runs the calling test again, in a child process with this task, and
// returns its output and how it ended.
func RunChild(t *testing.T, task string) (output string, err error) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	child := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
	child.Env = append(os.Environ(), childEnv+"="+task)
	out, err := child.CombinedOutput()
	return string(out), err
}
