//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// startGroup starts the command as the head of a process group, as a shell
// does, and returns what it writes to its standard output.
func startGroup(t *testing.T, process *exec.Cmd) (stdout *os.File) {
	t.Helper()
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	process.Stdout = write
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = stdout.Close()
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) // what a failed test has left
	})
	return stdout
}

// readUntil reads until the text has come.
func readUntil(t *testing.T, f *os.File, text string) {
	t.Helper()
	var all strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := f.Read(buffer)
		if err != nil {
			t.Fatalf("%v before %q", err, text)
		}
		all.Write(buffer[:n])
	}
}

// endOfInterrupted waits for the end and sees to it that it is a proper one,
// and the end of the children too.
func endOfInterrupted(t *testing.T, process *exec.Cmd, stderr *bytes.Buffer, folder string, children ...int) {
	t.Helper()
	if status := exitStatus(t, process.Wait()); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	if got, want := stderr.String(), "bench: interrupted; the samples until then are in "+folder+"\n"; !strings.HasSuffix(got, want) {
		t.Errorf("says %q, want %q at the end", got, want)
	}
	for _, child := range children {
		if err := syscall.Kill(child, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is left behind (%v)", child, err)
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
}

func TestInterruptKeepsResults(t *testing.T) {
	folder := t.TempDir()
	process, _, stderr := bench("-suite", "footprint,pooling", "-count", "1", "-benchtime", "1s", "-o", folder)
	stdout := startGroup(t, process)
	// The tables of footprint come when that suite has ended and pooling runs,
	// which takes much longer than it takes to read them.
	readUntil(t, stdout, "reader=holds")
	if err := process.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	endOfInterrupted(t, process, stderr, folder)
	run := readResults(t, folder)
	if len(run.Find("footprint", "procs=16", "PoolSwap").Iterations) != 1 {
		t.Error("the samples before are not there")
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("did not come to its end")) {
		t.Errorf("the report does not say that the run was interrupted: %v", err)
	}
}

// TestInterruptEndsChildren interrupts a sample of hotswap that would take an
// hour, in the two common ways: a terminal signals the whole group,
// other senders signal the one process.
func TestInterruptEndsChildren(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		group  bool
	}{
		{"Ctrl-C", syscall.SIGINT, true},
		{"SIGINT", syscall.SIGINT, false},
		{"SIGTERM", syscall.SIGTERM, false},
		{"SIGTERM to all", syscall.SIGTERM, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			process, _, stderr := bench("-suite", "hotswap", "-benchtime", "1h", "-o", folder)
			readUntil(t, startGroup(t, process), "samples of each")
			children := awaitChildren(process.Process.Pid)
			to := process.Process.Pid
			if c.group {
				to = -to
			}
			if err := syscall.Kill(to, c.signal); err != nil {
				t.Fatal(err)
			}
			endOfInterrupted(t, process, stderr, folder, children...)
		})
	}
}

// awaitChildren waits until the process has a child that runs the command, and
// returns all such children, where the system tells. A signal between fork and
// exec may crash any Go program, with "morestack on gsignal".
func awaitChildren(pid int) (children []int) {
	for runtime.GOOS == "linux" && len(children) == 0 {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
		if len(lists) == 0 {
			break // it has ended, or the kernel does not list children
		}
		for _, list := range lists {
			content, _ := os.ReadFile(list)
			for _, word := range strings.Fields(string(content)) {
				arguments, _ := os.ReadFile(filepath.Join("/proc", word, "cmdline"))
				child, err := strconv.Atoi(word)
				if err == nil && bytes.HasSuffix(arguments, []byte("\x00"+runner.ChildArgument+"\x00")) {
					children = append(children, child)
				}
			}
		}
		runtime.Gosched()
	}
	return children
}
