package poolswap_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// childEnv tells a test that runs in a process of its own what to do there.
const childEnv = "POOLSWAP_TEST_CHILD"

// inChild reports what this process was started to do, or "" in the parent.
func inChild() string { return os.Getenv(childEnv) }

// runChild runs the calling test again in a process of its own and returns
// what it printed and how it ended.
func runChild(t *testing.T, task string) (output string, err error) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	child := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
	child.Env = append(os.Environ(), childEnv+"="+task)
	out, err := child.CombinedOutput()
	return string(out), err
}

// TestWithoutAReportAPanicOnTheSweeperEndsTheProcess lets reset and the
// discard hook panic where no caller can see it.
func TestWithoutAReportAPanicOnTheSweeperEndsTheProcess(t *testing.T) {
	if task := inChild(); task != "" {
		panicOnTheSweeper(t, task)
		return
	}
	for _, hook := range []string{"reset", "discard"} {
		t.Run(hook, func(t *testing.T) {
			output, err := runChild(t, hook)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the process ended with %v, want exit status 2", err)
			}
			if !strings.Contains(output, "panic: the "+hook+"'s own\n") || !strings.Contains(output, "panicOnTheSweeper") {
				t.Errorf("the process did not end with the panic of the %s and its stack:\n%s", hook, output)
			}
		})
	}
}

func panicOnTheSweeper(t *testing.T, hook string) {
	options := poolswap.Options[table]{Discard: func(*table) { panic("the discard's own") }}
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(*table) bool {
		if hook == "reset" {
			panic("the reset's own")
		}
		return false
	}, options)
	c := poolswap.NewContainer(pool, &table{})
	old := c.Acquire()
	c.Update(nil)
	c.Release(old)
	eventually(t, "the panic ends the process", func() bool { return false })
}
