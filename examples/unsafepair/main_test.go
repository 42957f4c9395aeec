package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// build builds the command: as a process of its own, since a race in the test
// process would fail the test.
func build(t *testing.T, flags ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "unsafepair.exe")
	command := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, ".")...)
	command.Env = append(os.Environ(), "GOFLAGS=") // not those of this test
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

// corrupted returns the numbers of corrupted reads in the lines of the output.
func corrupted(t *testing.T, output []byte) (all []int) {
	t.Helper()
	for _, line := range regexp.MustCompile(`(?m)(\d+) of (\d+) reads corrupted$`).FindAllStringSubmatch(string(output), -1) {
		var bad, reads int
		if _, err := fmt.Sscan(line[1]+" "+line[2], &bad, &reads); err != nil || reads == 0 {
			t.Fatalf("%q: %v", line[0], err)
		}
		all = append(all, bad)
	}
	return all
}

func TestPairCorruptsReads(t *testing.T) {
	binary := build(t)
	for _, procs := range []string{"1", "2", "8"} {
		command := exec.Command(binary)
		command.Env = append(os.Environ(), "GOMAXPROCS="+procs)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if bad := corrupted(t, output); len(bad) != 2 || bad[0] == 0 || bad[1] != 0 {
			t.Errorf("GOMAXPROCS %s: want corrupted reads of the pair and none of poolswap\n%s", procs, output)
		}
	}
}

func TestRaceDetectorReportsPair(t *testing.T) {
	if !raceWorks(t) {
		t.Skip("the race detector needs cgo and a C compiler")
	}
	binary := build(t, "-race")
	for way, want := range map[string]bool{"pair": true, "poolswap": false} {
		output, err := exec.Command(binary, "-way", way, "-updates", "100", "-readers", "2").CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		reported := strings.Contains(string(output), "WARNING: DATA RACE") && strings.Contains(string(output), "(*table).fill")
		if reported != want || (err != nil) != want {
			t.Errorf("-way %s: a race reported: %v (%v), want %v\n%.2000s", way, reported, err, want, output)
		}
	}
}

// raceWorks reports whether go build -race works here.
func raceWorks(t *testing.T) bool {
	t.Helper()
	environment, err := exec.Command("go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(environment))
	if len(fields) < 2 || fields[0] != "1" {
		return false
	}
	if _, err := exec.LookPath(fields[1]); err != nil {
		return false
	}
	return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"-updates", "0"}, "both must be at least 1"},
		{[]string{"-way", "none"}, "there are pair, poolswap and both"},
		{[]string{"pair"}, `unexpected argument "pair"`},
	} {
		var out strings.Builder
		if err := run(c.arguments, &out, &out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.want)
		}
	}
}
