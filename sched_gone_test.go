//go:build linux && amd64 && !race && !purego && !poolswapsched

package poolswap_test

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
// sync/atomic and sync themselves, so the code is what it were without a seam.
// These do not compile otherwise.
var (
	_ = func(word *seam.Uint64) *atomic.Uint64 { return word }
	_ = func(word *seam.Bool) *atomic.Bool { return word }
	_ = func(word *seam.Pointer[int]) *atomic.Pointer[int] { return word }
	_ = func(mu *seam.Mutex) *sync.Mutex { return mu }
)

// TestNothingOfTheSeamIsInAProgram: counts, pins and fences are inlined or the
// runtime's own; what a program has of the seam is what has work to do beyond a
// step of the protocol, and nothing of a Machine.
func TestNothingOfTheSeamIsInAProgram(t *testing.T) {
	program, _ := buildCaller(t)
	symbols, err := exec.Command("go", "tool", "nm", program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, symbols)
	}
	works := []string{
		"Go", "Membarrier", "RegisterMembarrier", "ErrNoMembarrier", // what its name says
		"WhereP", "parseProcPin", // at start-up
	}
	found := 0
	for _, match := range regexp.MustCompile(`(?m) [TDRB] github\.com/poolswap/poolswap/internal/(seam|sched|jitter)\.(.*)$`).FindAllSubmatch(symbols, -1) {
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
