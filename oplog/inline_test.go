package oplog_test

import (
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestLookupInlines checks the compiler's decisions: a lookup through a Reader
// costs its caller the load, the compare and the lookup of the map.
func TestLookupInlines(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	build := exec.Command("go", "build", "-gcflags=-m=2", "-o", filepath.Join(t.TempDir(), "caller"), "./testdata/inline")
	build.Env = append(os.Environ(), "GOFLAGS=") // not those of this test
	decisions, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, decisions)
	}
	wants := map[string]string{"View.Get": `inlining call to oplog\.\(\*View\[.*\]\)\.Get$`}
	if bits.UintSize == 64 { // with 32 bits the inliner counts an atomic load as a call
		wants["Reader.Load"] = `inlining call to poolswap\.\(\*Reader\[.*\]\)\.Load$`
	}
	for what, want := range wants {
		if !regexp.MustCompile(`(?m)^testdata/inline/caller\.go:\d+:\d+: ` + want).Match(decisions) {
			t.Errorf("%s is not inlined in its caller", what)
		}
	}
}
