package keyed_test

import (
	"math/bits"
	"os/exec"
	"regexp"
	"testing"
)

// TestLookupInOplogInlines looks into the compiler's decisions: nothing but the
// lookup in the map is left of a read.
func TestLookupInOplogInlines(t *testing.T) {
	output, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const call = `(?m)^\S*oplog\.go:\d+:\d+: inlining call to `
	wants := map[string]string{"View.Get": call + `oplog\.\(\*View\[.*\]\)\.Get$`}
	if bits.UintSize == 64 { // with 32 bits an atomic load counts as a call to the inliner
		wants["Reader.Load"] = call + `poolswap\.\(\*Reader\[.*\]\)\.Load$`
	}
	for what, want := range wants {
		if !regexp.MustCompile(want).Match(output) {
			t.Errorf("%s is not inlined in its loop", what)
		}
	}
}
