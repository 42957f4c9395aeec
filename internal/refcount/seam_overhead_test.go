//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"os/exec"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// In a build without a scheduler the types of the seam are aliases of those of
// sync/atomic and sync. Otherwise these functions would not compile.
var (
	_ = func(word *seam.Uint64) *atomic.Uint64 { return word }
	_ = func(word *seam.Bool) *atomic.Bool { return word }
	_ = func(word *seam.Pointer[int]) *atomic.Pointer[int] { return word }
	_ = func(word *seam.SetOnce[int]) *atomic.Pointer[int] { return word }
	_ = func(mu *seam.Mutex) *sync.Mutex { return mu }
)

// seamSymbols are the symbols of the seam that a program may contain, because
// they do more than one step of the protocol.
var seamSymbols = []string{
	"Go", "AddCleanup", "Membarrier", "RegisterMembarrier", "ErrNoMembarrier",
	"ProcIDOffsets", "parseProcPin", "Stripes", // called at start-up, and when counters are made
}

// TestTheSeamCompilesAway: counts, pins and fences are inlined or belong to the
// runtime, and a program contains nothing of a Machine.
func TestTheSeamCompilesAway(t *testing.T) {
	program, _ := buildCaller(t)
	symbols, err := exec.Command("go", "tool", "nm", program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, symbols)
	}
	found := 0
	for _, match := range regexp.MustCompile(`(?m) [TDRB] `+module+`/internal/(seam|sched|jitter)\.(.*)$`).FindAllSubmatch(symbols, -1) {
		pkg, name := string(match[1]), string(match[2])
		found++
		if pkg != "seam" || !slices.Contains(seamSymbols, name) {
			t.Errorf("the program contains %s.%s", pkg, name)
		}
	}
	if found == 0 {
		t.Error("no symbol was found, not even Membarrier")
	}
}
