package refcount_test

import (
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildCaller compiles the program in testdata/inline, which calls every read,
// and returns its path and the compiler's report of its decisions. A setting is
// a flag of the build or a variable of its environment.
func buildCaller(t *testing.T, settings ...string) (program, decisions string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "caller")
	args, env := []string{"build", "-gcflags=-m=2", "-o", program}, append(os.Environ(), "GOFLAGS=") // not those of this test
	for _, setting := range settings {
		if strings.HasPrefix(setting, "-") {
			args = append(args, setting)
		} else {
			env = append(env, setting)
		}
	}
	build := exec.Command("go", append(args, "./testdata/inline")...)
	build.Env = env
	output, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program, string(output)
}

// TestReadsInline checks the compiler's decisions: Acquire and Release cost
// their callers one call each, Load of a held object costs none, and a closure
// passed to WithAcquire stays on the stack.
func TestReadsInline(t *testing.T) {
	_, decisions := buildCaller(t)
	const caller, container = `(?m)^testdata/inline/caller\.go:\d+:\d+: `, `(?m)^\S*container\.go:\d+:\d+: `
	wants := map[string]string{
		"Acquire in its caller":                 caller + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Acquire$`,
		"Release in its caller":                 caller + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Release$`,
		"Acquire in WithAcquire":                container + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Acquire$`,
		"Release in WithAcquire":                container + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Release$`,
		"the closure of WithAcquire, no escape": caller + `func literal does not escape$`,
	}
	if bits.UintSize == 64 { // with 32 bits the inliner counts an atomic load as a call
		wants["Load in its caller"] = caller + `inlining call to poolswap\.\(\*Reader\[.*\]\)\.Load$`
	}
	for what, want := range wants {
		if !regexp.MustCompile(want).MatchString(decisions) {
			t.Errorf("the compiler's report lacks: %s", what)
		}
	}
}
