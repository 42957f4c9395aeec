package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// begun says when its turn has begun.
var begun = way{"begun", func() shared {
	fmt.Fprintln(os.Stderr, "begun")
	return new(locked)
}}

// TestMain makes the test binary the process of a turn, as the command is, and the
// command with a single way. These ways include faulty ones.
func TestMain(m *testing.M) {
	all := slices.Concat([]way{begun}, ways, torn(), faulty)
	switch {
	case len(os.Args) > 1 && os.Args[1] == turnArgument:
		os.Exit(run(all, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == begun.name:
		os.Exit(run([]way{begun}, os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	// The race detector waits a second at the end of each process unless told not to.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// halfFilled leaves every other row of each table one version behind.
type halfFilled struct{ shared }

func (s halfFilled) replace(fill func(*table) error) error {
	return s.shared.replace(func(t *table) error {
		err := fill(t)
		for i := 0; i < len(t.rows); i += 2 {
			t.rows[i].version--
		}
		return err
	})
}

// torn returns each way with the fault that its tables are of two versions.
func torn() (faulty []way) {
	for _, w := range ways {
		faulty = append(faulty, way{"torn " + w.name, func() shared { return halfFilled{w.make()} }})
	}
	return faulty
}

// stale keeps its fourth table.
type stale struct {
	shared
	made int
}

func (s *stale) replace(fill func(*table) error) error {
	if s.made++; s.made > 4 {
		return fill(new(table))
	}
	return s.shared.replace(fill)
}

// firstWrong is wrong until the measurement begins, which is after a collection.
type firstWrong struct{ shared }

func (s firstWrong) read(q question) bool {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return s.shared.read(q) && stats.NumGC > 0
}

// faulty are ways with other faults.
var faulty = []way{
	{"stale", func() shared { return &stale{shared: new(pointed)} }},
	{"wrong at first", func() shared {
		debug.SetGCPercent(-1) // except the collection after the warm-up
		return firstWrong{new(locked)}
	}},
}

// runFor runs the command for a small table and a short time, or one in which a busy
// machine comes to an answer.
func runFor(t *testing.T, ways []way) (status int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	var lines strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&lines, "10.%d.%d.0,10.%d.%d.99,%d,\"A, B\"\n", i/256, i%256, i/256, i%256, i)
	}
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit := 40 * time.Millisecond; ; limit *= 2 {
		var out, failures strings.Builder
		status = run(ways, []string{"-for", limit.String(), "-table", path}, nil, &out, &failures)
		if !strings.HasSuffix(failures.String(), ": no answer in that time\n") {
			return status, out.String(), failures.String()
		}
	}
}

func TestEachWayAnswersRight(t *testing.T) {
	status, stdout, stderr := runFor(t, ways)
	if status != passed || stderr != "" {
		t.Errorf("status %d, %q", status, stderr)
	}
	for _, w := range ways {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(w.name) + ` {2,}[1-9]`).MatchString(stdout) {
			t.Errorf("no row of %s", w.name)
		}
	}
	if !regexp.MustCompile(`(?m)^[1-9][0-9,]* answers checked, each of one version\. `).MatchString(stdout) || strings.Contains(stdout, "\r") {
		t.Errorf("%q", stdout)
	}
}

func TestMixedAnswersFail(t *testing.T) {
	for _, w := range append(torn(), faulty...) {
		t.Run(w.name, func(t *testing.T) {
			status, stdout, stderr := runFor(t, []way{w})
			want := regexp.MustCompile(`^demo: answers of more than one version, or of another range: ([1-9][0-9,]*) of ` + w.name + "\n$")
			wrong := want.FindStringSubmatch(stderr)
			if status != failed || wrong == nil {
				t.Fatalf("status %d, %q", status, stderr)
			}
			if line := " answers checked, " + wrong[1] + " were wrong. "; !strings.Contains(stdout, line) {
				t.Errorf("%q is not in\n%s", line, stdout)
			}
		})
	}
}

// unwritable fails like a full disk.
type unwritable struct{}

func (unwritable) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatFailsIsAnError(t *testing.T) {
	for _, arguments := range [][]string{{"-h"}, {"-for", "40ms"}} {
		var stderr strings.Builder
		if status := run(ways, arguments, nil, unwritable{}, &stderr); status != failed || stderr.String() != "demo: no space left\n" {
			t.Errorf("%q: status %d, %q", arguments, status, &stderr)
		}
	}
	if err := printTable(unwritable{}, ways[:1], []result{resultOf(2, 1, 1)}, usage{}); err == nil {
		t.Error("a table that is not written is no error")
	}
}

func TestFailedTurnFails(t *testing.T) {
	status, _, stderr := runFor(t, []way{{name: "unknown to the process"}})
	if status != failed || !strings.Contains(stderr, "demo: no such turn: ") ||
		!strings.Contains(stderr, "demo: the process that measures unknown to the process: exit status 2\n") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestBadCommandLinesAreRefused(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		status    int
		want      string
	}{
		{[]string{"-for", "0"}, misused, "demo: -for 0s: the time must be positive, and a day at most\n"},
		{[]string{"-for", "-1s"}, misused, "demo: -for -1s: the time must be positive, and a day at most\n"},
		{[]string{"-for", "25h"}, misused, "demo: -for 25h0m0s: the time must be positive, and a day at most\n"},
		{[]string{"-for", "long"}, misused, "demo: invalid value \"long\" for flag -for: parse error; -h lists the flags\n"},
		{[]string{"-none"}, misused, "demo: flag provided but not defined: -none; -h lists the flags\n"},
		{[]string{"table.csv"}, misused, "demo: unexpected argument \"table.csv\"; -h lists the flags\n"},
		{[]string{"-table", "no/such.csv"}, failed, "demo: open no/such.csv: "},
	} {
		var stdout, stderr strings.Builder
		status := run(ways, c.arguments, nil, &stdout, &stderr)
		if status != c.status || !strings.HasPrefix(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%q: status %d, %q %q", c.arguments, status, stdout.String(), stderr.String())
		}
	}
}

func TestHelpListsTheFlags(t *testing.T) {
	var stdout, stderr strings.Builder
	status := run(ways, []string{"-h"}, nil, &stdout, &stderr)
	if status != passed || stderr.Len() > 0 || !strings.Contains(stdout.String(), "-for") || !strings.Contains(stdout.String(), "-table") {
		t.Errorf("status %d, %q %q", status, stdout.String(), stderr.String())
	}
}
