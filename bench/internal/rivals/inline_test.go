package rivals_test

import (
	"math/bits"
	"os/exec"
	"regexp"
	"testing"
)

// TestReadLoopsInline looks into the compiler's decisions: in the loops every rival's calls are inlined that can be inlined at all.
func TestReadLoopsInline(t *testing.T) {
	output, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	const loop = `(?m)^(\./)?loops\.go:\d+:\d+: inlining call to `
	wants := map[string]string{
		"Container.Acquire":           loop + `poolswap\.\(\*Container\[.*\]\)\.Acquire$`,
		"Container.Release":           loop + `poolswap\.\(\*Container\[.*\]\)\.Release$`,
		"RWMutex.RLock":               loop + `sync\.\(\*RWMutex\)\.RLock$`,
		"RWMutex.RUnlock":             loop + `sync\.\(\*RWMutex\)\.RUnlock$`,
		"Pointer.Load":                loop + `atomic\.\(\*Pointer\[.*\]\)\.Load$`,
		"RWMutex.RLock of RWMutexRef": `(?m)^\S*recycling\.go:\d+:\d+: inlining call to sync\.\(\*RWMutex\)\.RLock$`,
	}
	if bits.UintSize == 64 { // with 32 bits an atomic load counts as a call to the inliner
		wants["Reader.Load"] = loop + `poolswap\.\(\*Reader\[.*\]\)\.Load$`
	}
	for what, want := range wants {
		if !regexp.MustCompile(want).Match(output) {
			t.Errorf("%s is not inlined in its loop", what)
		}
	}
}
