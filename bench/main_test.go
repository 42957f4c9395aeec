package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

// TestMain lets the test binary be the command, so that tests start it as a
// process and it can start itself as a child.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST_COMMAND") != "" || len(os.Args) > 1 && os.Args[1] == runner.ChildArgument {
		main()
		return
	}
	os.Exit(m.Run())
}

// bench returns the command with these arguments, ready to start.
func bench(arguments ...string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	c = exec.Command(os.Args[0], arguments...)
	c.Env = append(os.Environ(), "BENCH_TEST_COMMAND=1")
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	c.Stdout, c.Stderr = stdout, stderr
	return c, stdout, stderr
}

func TestArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		arguments []string
		status    int
		says      string
	}{
		{"an unknown flag", []string{"-fast"}, 2, "flag provided but not defined: -fast"},
		{"an unknown suite", []string{"-suite", "read,hotswop"}, 2, `there is no suite "hotswop"; there are hotswap, parsed, spares, read, `},
		{"no suite", []string{"-suite", ""}, 2, `there is no suite ""`},
		{"no sample", []string{"-count", "0"}, 2, "-count 0: at least 1 sample"},
		{"a count that is no number", []string{"-count", "many"}, 2, `invalid value "many"`},
		{"too few samples for a gate", []string{"-gate", "kept"}, 2, "-gate needs -count 8 or more"},
		{"a clock that does not run", []string{"-benchtime", "-1s"}, 2, "-benchtime -1s: the clock must run"},
		{"an argument that is no flag", []string{"hotswap"}, 2, `"hotswap" is not a flag`},
		{"an output folder without a name", []string{"-o", ""}, 2, "-o needs the name of a folder"},
		{"an output folder that is a file", []string{"-o", file}, 1, "the results cannot be written"},
		{"an output folder that cannot be made", []string{"-o", filepath.Join(file, "below")}, 1, "the results cannot be written"},
		{"a question for the flags", []string{"-h"}, 0, "-benchtime"},
	} {
		t.Run(c.name, func(t *testing.T) {
			process, stdout, stderr := bench(c.arguments...)
			_ = process.Run()
			if status := process.ProcessState.ExitCode(); status != c.status {
				t.Errorf("exit status %d, want %d", status, c.status)
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("says %q, want %q", stderr, c.says)
			}
			if stdout.Len() > 0 {
				t.Errorf("has begun all the same: %s", stdout)
			}
		})
	}
}

func TestListNamesEachSuite(t *testing.T) {
	process, stdout, _ := bench("-list")
	if err := process.Run(); err != nil {
		t.Fatal(err)
	}
	for _, s := range suites.All() {
		if !strings.Contains("\n"+stdout.String(), "\n"+s.Name+" ") {
			t.Errorf("%s is not listed", s.Name)
		}
	}
}

func TestOptions(t *testing.T) {
	all := []runner.Suite{{Name: "usual"}, {Name: "long", OnRequest: true}}
	for _, c := range []struct{ procs, arguments, suites, command string }{
		{"", "", "usual", ""},
		{"", "-full", "usual", " -full"},
		{"", "-full -count 3 -suite long -benchtime 1s", "long", " -full -suite long -count 3 -benchtime 1s"},
		{"", "-suite long,usual -o elsewhere", "usual long", " -suite long,usual"},
		{"10", "-count 6", "usual", ""},
	} {
		t.Setenv("GOMAXPROCS", c.procs)
		o, err := parseOptions(strings.Fields(c.arguments), all, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		chosen := ""
		for _, s := range o.suites {
			chosen += " " + s.Name
		}
		if chosen != " "+c.suites {
			t.Errorf("%q runs %s, want %s", c.arguments, chosen, c.suites)
		}
		want := "go run -C bench ." + c.command
		if c.procs != "" {
			want = "GOMAXPROCS=10 " + want
		}
		if got := o.commandLine(); got != want {
			t.Errorf("%q: the command is %q, want %q", c.arguments, got, want)
		}
	}
}

// readResults reads the raw results of a folder and sees to it that the page is
// there, says whether the run was interrupted, and is the only other file.
func readResults(t *testing.T, folder string, interrupted bool) *runner.Run {
	t.Helper()
	run, err := runner.ReadKept(folder)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil || !bytes.Contains(page, []byte("</html>")) || bytes.Contains(page, []byte("did not come to its end")) != interrupted {
		t.Errorf("report.html: %v, or it does not say how the run ended", err)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 2 {
		t.Errorf("the folder has %v %v", files, err)
	}
	return run
}

func TestRunWritesItsResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	process, stdout, stderr := bench("-suite", "cadence", "-count", "2", "-benchtime", "1ms", "-o", folder)
	if err := process.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if lines := strings.Count(stderr.String(), "\n"); lines != 5 || strings.ContainsAny(stderr.String(), "\r\x1b") ||
		!strings.Contains(stderr.String(), "bench: cadence collections=3, about ") {
		t.Errorf("without a terminal, stderr has not one line for each of 5 cases: %q", stderr)
	}
	for _, want := range []string{"collections=3", "factory calls", folder} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("stdout lacks %q", want)
		}
	}
	run := readResults(t, folder, false)
	for _, s := range run.Series {
		if s.Suite != "cadence" || len(s.Iterations) != 2 {
			t.Errorf("%s/%s/%s has %d samples, want 2 of cadence", s.Suite, s.Case, s.Rival, len(s.Iterations))
		}
	}
	if want := 5 * 3; len(run.Series) != want {
		t.Errorf("%d series, want %d", len(run.Series), want)
	}
}

// TestGate measures with the command. The run that was kept is this one's, but
// for one read that was far faster: no machine is a thousand times as slow in
// one read alone.
func TestGate(t *testing.T) {
	const alone = "procs=1/goroutines=1/writer=none"
	gated := func(kept string) (status int, stdout, folder string) {
		folder = t.TempDir()
		process, out, failure := bench("-suite", "read", "-count", "8", "-benchtime", "100us", "-o", folder, "-gate", kept)
		_ = process.Run()
		return process.ProcessState.ExitCode(), out.String() + failure.String(), folder
	}
	kept := t.TempDir()
	status, stdout, folder := gated(kept)
	if status != 0 || !strings.Contains(stdout, "gate: nothing to compare with") {
		t.Fatalf("without a run that was kept: exit status %d, says %s", status, stdout)
	}
	run := readResults(t, folder, false)
	values := run.Values("read", alone, "PoolSwap", "ns/op")
	for i := range values {
		values[i] /= 1000
	}
	if err := run.Keep(filepath.Join(kept, run.Machine.Slug())); err != nil {
		t.Fatal(err)
	}
	status, stdout, _ = gated(kept)
	if status != 1 || !strings.Contains(stdout, "gate: read, "+alone+", PoolSwap: ") {
		t.Errorf("exit status %d, says %s", status, stdout)
	}
}
