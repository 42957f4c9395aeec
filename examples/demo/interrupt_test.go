//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestInterruptLeavesNothingRunning ends the command in the middle of a turn. The
// process of the turn has the same standard error, which ends when both have ended.
func TestInterruptLeavesNothingRunning(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		group  bool // the terminal sends it to all processes
		status int
		said   string
	}{
		{"by Ctrl-C", syscall.SIGINT, true, interrupted, "demo: interrupted\n"},
		{"by SIGTERM", syscall.SIGTERM, false, interrupted, "demo: interrupted\n"},
		{"by SIGKILL", syscall.SIGKILL, false, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, begun.name, "-for", "1h")
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			stderr, err := command.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			pid := command.Process.Pid
			t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
			reader := bufio.NewReader(stderr)
			if line, err := reader.ReadString('\n'); line != begun.name+"\n" {
				t.Fatalf("%q, %v", line, err)
			}
			if c.group {
				pid = -pid
			}
			if err := syscall.Kill(pid, c.signal); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(reader)
			if string(said) != c.said || err != nil {
				t.Errorf("%q, %v", said, err)
			}
			var exit *exec.ExitError
			if err := command.Wait(); !errors.As(err, &exit) || exit.ExitCode() != c.status {
				t.Errorf("%v, want status %d", err, c.status)
			}
		})
	}
}
