package poolswap_test

import (
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// buildCaller compiles the program that reads in every way, and returns where
// it is and what the compiler said of its decisions. env is added to the
// environment.
func buildCaller(t *testing.T, env ...string) (program, decisions string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "caller")
	build := exec.Command("go", "build", "-gcflags=-m=2", "-o", program, "./testdata/inline")
	build.Env = append(os.Environ(), env...)
	output, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program, string(output)
}

// TestReadsInline looks into the compiler's decisions: Acquire and Release cost
// their callers one call each, Load of what is held costs none, and a function
// given to WithAcquire stays on the stack.
func TestReadsInline(t *testing.T) {
	_, decisions := buildCaller(t)
	const caller, container = `(?m)^testdata/inline/caller\.go:\d+:\d+: `, `(?m)^(\./)?container\.go:\d+:\d+: `
	wants := map[string]string{
		"Acquire in its caller":                 caller + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Acquire$`,
		"Release in its caller":                 caller + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Release$`,
		"Acquire in WithAcquire":                container + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Acquire$`,
		"Release in WithAcquire":                container + `inlining call to poolswap\.\(\*Container\[.*\]\)\.Release$`,
		"the closure of WithAcquire, no escape": caller + `func literal does not escape$`,
	}
	if bits.UintSize == 64 { // where an atomic load is an intrinsic to the inliner; with 32 bits it counts as a call
		wants["Load in its caller"] = caller + `inlining call to poolswap\.\(\*Reader\[.*\]\)\.Load$`
	}
	for what, want := range wants {
		if !regexp.MustCompile(want).MatchString(decisions) {
			t.Errorf("the compiler did not decide for: %s", what)
		}
	}
}
