package suites

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestRivalsInGo takes a sample of each way. That each read saw a value it may see
// is asserted there.
func TestRivalsInGo(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range programs().Cases {
		for _, of := range contenders {
			name := of.promise[0]
			sample, err := c.Find(name).Sample(runner.Config{Time: 4 * time.Millisecond, Shrink: 1})
			if of.program != "" {
				if err == nil || !strings.Contains(err.Error(), "make rivals builds it") {
					t.Errorf("%s, which is not built: %v", name, err)
				}
				continue
			}
			if err != nil || sample.Iterations < 1 || sample.Values["ns/op"] <= 0 || sample.Values["core-ns/op"] < sample.Values["ns/op"] {
				t.Errorf("%s, %s: %+v, %v", c.Name, name, sample, err)
			}
			if _, ok := sample.Values["swaps/s"]; ok != strings.HasSuffix(c.Name, "writer=1000") {
				t.Errorf("%s, %s: swaps are counted: %v", c.Name, name, ok)
			}
		}
	}
}

// TestPromisesNameTheirVersions: the versions that tables show are those that are
// built.
func TestPromisesNameTheirVersions(t *testing.T) {
	crates, err := os.ReadFile("../../rivals/rust/Cargo.toml")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	versions := 0
	for _, promise := range programs().Promises {
		if len(promise) != 6 || slices.Contains(promise, "") {
			t.Errorf("%q", promise)
		}
		of := regexp.MustCompile(`(\S+) (v?\d+\.\d+\.\d+)`).FindStringSubmatch(promise[1])
		if of == nil {
			continue
		}
		versions++
		name, version := regexp.QuoteMeta(of[1]), regexp.QuoteMeta(of[2])
		crate := regexp.MustCompile(`(?m)^` + name + ` = "=` + version + `"$`)
		module := regexp.MustCompile(`(?m)/` + name + `/v\d+ ` + version + `$`)
		if !crate.Match(crates) && !module.Match(modules) {
			t.Errorf("%s: neither Cargo.toml nor go.mod has it", promise[1])
		}
	}
	if versions < 8 {
		t.Errorf("%d versions only", versions)
	}
}

func TestParseSample(t *testing.T) {
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

func TestErrorOfAProgramIsShown(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(programFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]string{
		`echo "$1 $2 $3 ns/op $4 swaps/s"`: "",
		`echo it was freed >&2; exit 1`:    "program way: exit status 1: it was freed",
		`echo hello`:                       "is not a sample of way",
	} {
		if err := os.WriteFile(filepath.Join(programFolder, "program"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		sample, err := sampleProgram("program", "way", 3, 1000, runner.Config{Time: 20 * time.Millisecond})
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", script, err, want)
			}
		case err != nil || sample.Iterations != 3 || sample.Values["ns/op"] != 20 || sample.Values["swaps/s"] != 1000:
			t.Errorf("%s: %+v, %v", script, sample, err)
		}
	}
}
