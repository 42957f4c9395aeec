package pooltest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// childEnv tells a test that runs in a process of its own what to do there.
const childEnv = "POOLSWAP_TEST_CHILD"

// InChild reports what this process was started to do, or "" in the parent.
func InChild() string { return os.Getenv(childEnv) }

// RunChild runs the calling test again in a process of its own and returns
// what it printed and how it ended.
func RunChild(t *testing.T, task string) (output string, err error) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	child := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
	child.Env = append(os.Environ(), childEnv+"="+task)
	out, err := child.CombinedOutput()
	return string(out), err
}
