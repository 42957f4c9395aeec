package suites

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

func programsSuite(t *testing.T) runner.Suite {
	t.Helper()
	all := All()
	i := slices.IndexFunc(all, func(s runner.Suite) bool { return s.Name == "rivals" })
	if i < 0 {
		t.Fatal("no suite rivals")
	}
	return all[i]
}

// programsInGo builds the programs in Go into the folder of this test and
// returns the names of the rivals in them.
func programsInGo(t *testing.T) (rivals []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("make rivals is for systems with a shell")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, tags := range map[string]string{"go": "", "go-purego": "purego"} {
		target, err := filepath.Abs(filepath.Join(programFolder, name))
		if err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-tags", tags, "-o", target, "./rivals/go")
		build.Dir = root
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	return []string{"PoolSwap", "WithAcquire", "Portable", "Purego", "Reader.Load", "atomic.Pointer", "RWMutexRef", "RBMutex"}
}

// TestRivalsInGo takes a sample of each. That each read saw a value it may see
// is asserted in the program.
func TestRivalsInGo(t *testing.T) {
	names := programsInGo(t)
	s := programsSuite(t)
	for _, c := range s.Cases {
		for _, name := range names {
			sample, err := c.Find(name).Sample(runner.Config{Time: 4 * time.Millisecond, Shrink: 1})
			if err != nil {
				t.Errorf("%s, %s: %v", c.Name, name, err)
				continue
			}
			if sample.Iterations < 1 || sample.Values["ns/op"] <= 0 || sample.Values["core-ns/op"] < sample.Values["ns/op"] {
				t.Errorf("%s, %s: %+v", c.Name, name, sample)
			}
			if _, ok := sample.Values["swaps/s"]; ok != strings.HasSuffix(c.Name, "writer=1000") {
				t.Errorf("%s, %s: swaps are counted: %v", c.Name, name, ok)
			}
		}
	}
}

func TestProgramThatIsMissingIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	s := programsSuite(t)
	_, err := s.Cases[0].Find("urcu-memb").Sample(runner.Config{Time: time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "make rivals") {
		t.Errorf("says %v", err)
	}
}

func TestEachRivalPromises(t *testing.T) {
	s := programsSuite(t)
	if len(s.Promises) != len(s.Cases[0].Rivals) {
		t.Errorf("%d promises of %d rivals", len(s.Promises), len(s.Cases[0].Rivals))
	}
	for _, promise := range s.Promises {
		if s.Cases[0].Find(promise.Rival) == nil || slices.Contains(promise.Cells(), "") {
			t.Errorf("%+v", promise)
		}
	}
}

// TestVersionsOfRivals: the versions that tables show are those that are built.
func TestVersionsOfRivals(t *testing.T) {
	crates := textFile(t, "../../rivals/rust/Cargo.toml")
	modules := textFile(t, "../../go.mod")
	versions := 0
	s := programsSuite(t)
	for _, promise := range s.Promises {
		what := regexp.MustCompile(`(\S+) (v?\d+\.\d+\.\d+)`).FindStringSubmatch(promise.Is)
		if what == nil {
			continue
		}
		versions++
		name, version := what[1], what[2]
		crate := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name+` = "=`+version+`"`) + `$`)
		module := regexp.MustCompile(`(?m)/` + regexp.QuoteMeta(name) + `/v\d+ ` + regexp.QuoteMeta(version) + `$`)
		if !crate.MatchString(crates) && !module.MatchString(modules) {
			t.Errorf("%s: neither Cargo.toml nor go.mod has it", promise.Is)
		}
	}
	if versions < 8 {
		t.Errorf("%d versions only", versions)
	}
}

func textFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
func TestParse(t *testing.T) {
	sample, err := parseSample("way 8192 3.5 ns/op 999.9 swaps/s 2 objects\n", "way")
	if err != nil {
		t.Fatal(err)
	}
	if sample.Iterations != 8192 || len(sample.Values) != 3 || sample.Values["ns/op"] != 3.5 || sample.Values["swaps/s"] != 999.9 || sample.Values["objects"] != 2 {
		t.Errorf("%+v", sample)
	}
	for _, line := range []string{
		"", "way", "other 8192 3.5 ns/op", "way no 3.5 ns/op", "way 0 3.5 ns/op",
		"way 8192 3.5", "way 8192 fast ns/op", "way 8192 0 ns/op", "way 8192", "way 8192 NaN ns/op",
	} {
		if sample, err := parseSample(line, "way"); err == nil {
			t.Errorf("%q is taken for %+v", line, sample)
		}
	}
}

func TestSampleOfAProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(programFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	config := runner.Config{Time: 20 * time.Millisecond}
	for _, c := range []struct{ name, script, want string }{
		{"works", `echo "$1 $2 $3 ns/op $4 swaps/s"`, ""},
		{"fails", `echo it was freed >&2; exit 1`, "fails way: exit status 1: it was freed"},
		{"babbles", `echo hello`, "is not a sample of way"},
	} {
		if err := os.WriteFile(filepath.Join(programFolder, c.name), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		sample, err := sampleProgram(c.name, "way", 3, 1000, config)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case sample.Iterations != 3 || sample.Values["ns/op"] != 20 || sample.Values["swaps/s"] != 1000:
			t.Errorf("%s: %+v", c.name, sample)
		}
	}
	if _, err := sampleProgram("none", "way", 1, 0, config); err == nil || !strings.Contains(err.Error(), "make rivals builds it") {
		t.Errorf("a program that is not there: %v", err)
	}
}
