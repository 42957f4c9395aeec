//go:build linux

package poolswap_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeMake stands for make: the target "bad" fails, and every target leaves its
// name in a file.
const fakeMake = `#!/bin/sh
for target in "$@"; do :; done
echo "$target" >>made.txt
[ "$target" != bad ] || exit 3
`

// TestScriptStagesFailsWhenAStageFails runs scripts/stages, on which the verdict
// of make ci and make nightly depends, with a make of which one target fails.
func TestScriptStagesFailsWhenAStageFails(t *testing.T) {
	readsTheSource(t)
	for _, c := range []struct {
		name   string
		args   string // the option and the stages, MAKE stands for make
		exit   int
		failed string // what the last line of standard error names
		made   string // the targets that were made, sorted
	}{
		{"all stages pass", "MAKE one two+three", 0, "", "one three two"},
		{"one stage fails", "MAKE one bad two", 1, "==== failed: bad", "bad one"},
		{"one of two side by side fails", "MAKE one+bad two", 1, "==== failed: bad", "bad one"},
		{"the first of two side by side fails", "MAKE bad+one two", 1, "==== failed: bad", "bad one"},
		{"the last stage fails", "MAKE one bad", 1, "==== failed: bad", "bad one"},
		{"all stages pass, and it would go on", "-k MAKE one two+three", 0, "", "one three two"},
		{"one stage fails, and it goes on", "-k MAKE one bad two", 1, "==== failed: bad", "bad one two"},
		{"one of two side by side fails, and it goes on", "-k MAKE one+bad two", 1, "==== failed: bad", "bad one two"},
		{"the first of two side by side fails, and it goes on", "-k MAKE bad+one two", 1, "==== failed: bad", "bad one two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scriptDir(t, "stages")
			writeProgram(t, filepath.Join(dir, "make"), fakeMake)
			args := strings.Fields(strings.ReplaceAll(c.args, "MAKE", "./make"))
			exit, stderr := runScript(t, dir, nil, "stages", args...)
			if exit != c.exit {
				t.Errorf("exit code %d, want %d", exit, c.exit)
			}
			lines := strings.Split(strings.TrimSpace(stderr), "\n")
			if last := lines[len(lines)-1]; last != c.failed {
				t.Errorf("standard error ends with %q, want %q", last, c.failed)
			}
			made := strings.Fields(textOf(t, filepath.Join(dir, "made.txt")))
			slices.Sort(made)
			if got := strings.Join(made, " "); got != c.made {
				t.Errorf("made %q, want %q", got, c.made)
			}
			times := textOf(t, filepath.Join(dir, ".stages/times.txt"))
			if n := strings.Count(times, ", FAILED\n"); n != c.exit {
				t.Errorf("%d targets are recorded as failed, want %d:\n%s", n, c.exit, times)
			}
		})
	}
}

// TestScriptStagesLeavesNothingRunning interrupts scripts/stages while what a
// target started is running. That holds the write end of a pipe.
func TestScriptStagesLeavesNothingRunning(t *testing.T) {
	readsTheSource(t)
	for _, stages := range []string{"one", "one+two"} {
		t.Run(stages, func(t *testing.T) {
			dir := scriptDir(t, "stages")
			writeProgram(t, filepath.Join(dir, "make"), "#!/bin/sh\n(echo started >&3; sleep 300; true)\ntrue\n")
			running, held, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer running.Close()
			cmd := exec.Command("/bin/sh", "stages", "./make", stages)
			cmd.Dir, cmd.ExtraFiles = dir, []*os.File{held}
			err = cmd.Start()
			held.Close()
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(running)
			for range strings.Split(stages, "+") {
				lines.Scan()
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			if err := running.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if lines.Scan(); lines.Err() != nil {
				t.Errorf("something runs on: %v", lines.Err())
			}
		})
	}
}

// TestScriptLintFailsWhenPackagesAreNotListed has a go of which one command
// fails: a list of packages that is empty for that reason is not one to skip.
func TestScriptLintFailsWhenPackagesAreNotListed(t *testing.T) {
	readsTheSource(t)
	for _, c := range []struct {
		name string
		fail string // the part of go's arguments at which it fails
		exit int
	}{
		{"every list is made", "never", 0},
		{"the files of a build are not listed", ".IgnoredGoFiles", 1},
		{"the packages with assembly are not listed", ".SFiles", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scriptDir(t, "lint")
			writeProgram(t, filepath.Join(dir, "go"), "#!/bin/sh\ncase \"$*\" in *"+c.fail+"*) exit 3 ;; esac\n")
			writeProgram(t, filepath.Join(dir, "golangci-lint"), "#!/bin/sh\n")
			env := []string{"GO=" + dir + "/go", "GOLANGCILINT=" + dir + "/golangci-lint", "BUILDS=purego"}
			if exit, stderr := runScript(t, dir, env, "lint", "."); exit != c.exit {
				t.Errorf("exit code %d, want %d:\n%s", exit, c.exit, stderr)
			}
		})
	}
}

// TestScriptPlatformsFailsWhereItVetsNothing: PLATFORMS may come from the
// environment, and go may fail to list the packages.
func TestScriptPlatformsFailsWhereItVetsNothing(t *testing.T) {
	readsTheSource(t)
	for _, c := range []struct {
		name, lists string
		args        []string
		exit        int
	}{
		{"all is well", "echo example/a", []string{"-short", "linux/386", "js/wasm"}, 0},
		{"no platform", "echo example/a", nil, 2},
		{"no platform after -short", "echo example/a", []string{"-short"}, 2},
		{"the packages are not listed", "exit 1", []string{"js/wasm"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scriptDir(t, "platforms")
			writeProgram(t, filepath.Join(dir, "go"), "#!/bin/sh\n[ \"$1\" != list ] || "+c.lists+"\n")
			if exit, stderr := runScript(t, dir, []string{"GO=" + dir + "/go"}, "platforms", c.args...); exit != c.exit {
				t.Errorf("exit code %d, want %d:\n%s", exit, c.exit, stderr)
			}
		})
	}
}

// TestScriptNeedNamesWhatIsMissing has a gcc that has a library's headers, or
// does not.
func TestScriptNeedNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name, gcc, needed string
		exit              int
		says              string
	}{
		{"all is here", "exit 0", "gcc liburcu", 0, ""},
		{"no headers", "exit 1", "gcc liburcu", 1, "missing: liburcu ('make tools' installs it; on Debian: apt-get install liburcu-dev)\n"},
		{"no command", "exit 0", "gcc no-such-command", 1, "missing: no-such-command ('make tools' installs it; on Debian: apt-get install no-such-command)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := scriptDir(t, "need")
			writeProgram(t, filepath.Join(dir, "gcc"), "#!/bin/sh\n"+c.gcc+"\n")
			exit, stderr := runScript(t, dir, []string{"PATH=" + dir}, "need", strings.Fields(c.needed)...)
			if exit != c.exit || stderr != c.says {
				t.Errorf("exit code %d, want %d; says %q, want %q", exit, c.exit, stderr, c.says)
			}
		})
	}
}

// scriptDir returns a new folder with a copy of a script: scripts write into the
// folder that they are called in.
func scriptDir(t *testing.T, script string) string {
	dir := t.TempDir()
	writeProgram(t, filepath.Join(dir, script), textOf(t, filepath.Join("scripts", script)))
	return dir
}

func writeProgram(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// runScript runs a script of a folder in that folder, and returns its exit code
// and what it wrote to standard error.
func runScript(t *testing.T, dir string, env []string, script string, args ...string) (exit int, stderr string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{script}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var output strings.Builder
	cmd.Stderr = &output
	err := cmd.Run()
	var failure *exec.ExitError
	if err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), output.String()
}
