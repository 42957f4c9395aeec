package program

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

func TestParse(t *testing.T) {
	sample, err := parse("way 8192 3.5 ns/op 999.9 swaps/s 2 objects\n", "way")
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
		if sample, err := parse(line, "way"); err == nil {
			t.Errorf("%q is taken for %+v", line, sample)
		}
	}
}

func TestSampleOfAProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this test are shell scripts")
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(Folder, 0o755); err != nil {
		t.Fatal(err)
	}
	config := measure.Config{Time: 20 * time.Millisecond}
	for _, c := range []struct{ name, script, want string }{
		{"works", `echo "$1 $2 $3 ns/op $4 swaps/s"`, ""},
		{"fails", `echo it was freed >&2; exit 1`, "fails way: exit status 1: it was freed"},
		{"babbles", `echo hello`, "is not a sample of way"},
	} {
		if err := os.WriteFile(filepath.Join(Folder, c.name), []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		sample, err := Sample(c.name, "way", 3, 1000, config)
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
	if _, err := Sample("none", "way", 1, 0, config); err == nil || !strings.Contains(err.Error(), "make rivals builds it") {
		t.Errorf("a program that is not there: %v", err)
	}
}
