//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// interrupted starts the command as the head of a process group, as a shell does,
// waits until its standard output has the text, sends the signal to it or to the
// group, and sees to it that it and its children end properly.
func interrupted(t *testing.T, signal syscall.Signal, group bool, text, folder string, arguments ...string) {
	t.Helper()
	process, _, stderr := bench(append(arguments, "-o", folder)...)
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Stdout = nil
	stdout, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid := process.Process.Pid
	t.Cleanup(func() { _ = syscall.Kill(-pid, syscall.SIGKILL) }) // those that a failed test has left
	var all strings.Builder
	for buffer := make([]byte, 4096); !strings.Contains(all.String(), text); {
		n, err := stdout.Read(buffer)
		if err != nil {
			t.Fatalf("%v before %q", err, text)
		}
		all.Write(buffer[:n])
	}
	children, to := awaitChildren(pid), pid
	if group {
		to = -pid
	}
	if err := syscall.Kill(to, signal); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait()
	if status := process.ProcessState.ExitCode(); status != 1 {
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
	// The tables of footprint come when that suite has ended and pooling runs, which
	// takes much longer than it takes to read them.
	interrupted(t, syscall.SIGINT, false, "reader=holds", folder, "-suite", "footprint,pooling", "-count", "1", "-benchtime", "1s")
	run := readResults(t, folder, true)
	if len(run.Find("footprint", "procs=16", "PoolSwap").Iterations) != 1 {
		t.Error("the samples before are not there")
	}
}

// TestInterruptEndsChildren interrupts a sample of hotswap that would take an
// hour, in the two common ways: a terminal signals the whole group,
// other senders signal the one process.
func TestInterruptEndsChildren(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, group := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v to all is %v", signal, group), func(t *testing.T) {
				interrupted(t, signal, group, "samples of each", t.TempDir(), "-suite", "hotswap", "-benchtime", "1h")
			})
		}
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
				if err == nil && bytes.Contains(arguments, []byte("\x00"+runner.ChildArgument+"\x00")) {
					children = append(children, child)
				}
			}
		}
		runtime.Gosched()
	}
	return children
}
