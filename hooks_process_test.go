package poolswap_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestWithoutAReportAPanicOnTheSweeperEndsTheProcess lets reset and discard
// panic on the sweeper, which no caller can recover.
func TestWithoutAReportAPanicOnTheSweeperEndsTheProcess(t *testing.T) {
	if task := pooltest.InChild(); task != "" {
		panicOnTheSweeper(t, task)
		return
	}
	for _, hook := range []string{"reset", "discard"} {
		t.Run(hook, func(t *testing.T) {
			output, err := pooltest.RunChild(t, hook)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("the process ended with %v, want exit status 2", err)
			}
			if !strings.Contains(output, "panic: the "+hook+"'s own\n") || !strings.Contains(output, "panicOnTheSweeper") {
				t.Errorf("the output lacks the panic of %s or its stack:\n%s", hook, output)
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
	pooltest.Eventually(t, "the panic ends the process", func() bool { return false })
}
