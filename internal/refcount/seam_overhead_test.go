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

// In a build without a scheduler the words of the protocol are those of
// sync/atomic and sync themselves. These do not compile otherwise.
var (
	_ = func(word *seam.Uint64) *atomic.Uint64 { return word }
	_ = func(word *seam.Bool) *atomic.Bool { return word }
	_ = func(word *seam.Pointer[int]) *atomic.Pointer[int] { return word }
	_ = func(word *seam.SetOnce[int]) *atomic.Pointer[int] { return word }
	_ = func(mu *seam.Mutex) *sync.Mutex { return mu }
)

// works names what of the seam does more than a step of the protocol, and is
// in a program under its own name.
var works = []string{
	"Go", "AddCleanup", "Membarrier", "RegisterMembarrier", "ErrNoMembarrier", // what its name says
	"ProcIDOffsets", "parseProcPin", "Stripes", // at start-up, and when counters are made
}

// TestNothingOfTheSeamIsInAProgram: counts, pins and fences are inlined or the
// runtime's own; what a program has of the seam is what has work to do, and
// nothing of a Machine.
func TestNothingOfTheSeamIsInAProgram(t *testing.T) {
	program, _ := buildCaller(t)
	symbols, err := exec.Command("go", "tool", "nm", program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, symbols)
	}
	found := 0
	for _, match := range regexp.MustCompile(`(?m) [TDRB] `+module+`/internal/(seam|sched|jitter)\.(.*)$`).FindAllSubmatch(symbols, -1) {
		room, name := string(match[1]), string(match[2])
		found++
		if room != "seam" || !slices.Contains(works, name) {
			t.Errorf("a program has %s.%s in it", room, name)
		}
	}
	if found == 0 {
		t.Error("not even Membarrier was found")
	}
}
