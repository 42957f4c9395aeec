//go:build linux && amd64 && !race && !purego && !poolswapsched

package poolswap_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

const seamPath = module + "/internal/seam"

// works is what of the seam has work to do beyond a step of the protocol, and
// is in a program under its own name.
var works = []string{
	"Go", "AddCleanup", "Membarrier", "RegisterMembarrier", "ErrNoMembarrier", // what its name says
	"WhereP", "parseProcPin", "Stripes", // at start-up, and when counters are made
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

// direct says what stands for the seam in code that was written without one.
// Pins are the runtime's in either.
var direct = []struct{ seam, without string }{
	{`seam\.(Uint64|Bool|Pointer)\b`, `words.$1`},
	{`seam\.SetOnce\b`, `words.Pointer`},
	{`seam\.Mutex\b`, `locks.Mutex`},
	{`seam\.Count\b`, `words.Uint64`},
	{`(\S+)\.IncPlain\(\)`, `*(*uint64)(raw.Pointer(&$1))++`},
	{`\.Inc\(\)`, `.Add(1)`},
	{`seam\.Fence\(\)`, `{ var word words.Int32; word.Add(1) }`},
	{`seam\.Stripe\(`, `min(`},
	{`seam\.CanCountPlain\b`, `true`},
	{`(?m)^package \w+$`, `$0; import (locks "sync"; words "sync/atomic"; raw "unsafe")`},
	{`\z`, "\ntype (_ = locks.Mutex; _ = words.Uint64; _ = raw.Pointer)\nvar _ = seam.Stripes\n"},
}

// withoutSeam writes an overlay in which the library does without its seam, and
// returns where it is.
func withoutSeam(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for _, room := range []string{".", "internal/stripe"} {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(source)
			if strings.HasSuffix(file, "_test.go") || !strings.Contains(text, seamPath) {
				continue
			}
			for _, it := range direct {
				text = regexp.MustCompile(it.seam).ReplaceAllString(text, it.without)
			}
			for _, left := range regexp.MustCompile(`(?m)^[^/]*\bseam\.(\w+)`).FindAllStringSubmatch(text, -1) {
				if name := left[1]; name != "Pin" && name != "Unpin" && !slices.Contains(works, name) {
					t.Errorf("%s: nothing is said of what stands for seam.%s", file, name)
				}
			}
			original, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			replacement := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
			overlay.Replace[original] = replacement
			if err := os.WriteFile(replacement, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nowhere matches what depends on where a program has its code and data.
var nowhere = regexp.MustCompile(`^0x[0-9a-f]+$|-?0x[0-9a-f]+\(IP\)`)

// bare returns the instructions of a function but those that do nothing, and
// without what depends on where it is.
func bare(code []instruction) (text []string) {
	for _, in := range code {
		if strings.HasPrefix(in.op, "NOP") {
			continue
		}
		line := in.op + " " + nowhere.ReplaceAllString(in.args, "somewhere")
		if in.locked {
			line = "LOCK " + line
		}
		text = append(text, line)
	}
	return text
}

// TestTheSeamIsNotInTheMachineCode: every function of the library that a
// program has which reads, replaces and watches is the same machine code as
// when the sources name sync/atomic and sync in place of the seam, but for
// instructions that do nothing, and for addresses.
func TestTheSeamIsNotInTheMachineCode(t *testing.T) {
	const library = `^` + module + `(/internal/stripe)?\.`
	program, _ := buildCaller(t)
	seamless, _ := buildCaller(t, "-overlay="+withoutSeam(t))
	with, without := disassembleAll(t, program, library), disassembleAll(t, seamless, library)
	for _, method := range []string{
		"slot).acquire", "slot).update", "slot).publish", "Ref).retire", "Ref).reclaim", "Ref).slowCheck",
		"recycler).release", "recycler).releaseSlow", "recycler).get", "recycler).create", "recycler).attach", "recycler).adopt",
		"recycler).renew", "recycler).drop", "recycler).keep", "recycler).handOver", "recycler).sweep", "recycler).trim", "recycler).stats",
		"spares).popClean", "spares).popAwaiting", "spares).pushClean", "spares).pushAwaiting", "spares).takeAwaiting",
	} {
		if name := module + ".(*" + method; len(without[name]) == 0 {
			t.Errorf("%s is not in the program", name)
		}
	}
	for name, code := range with {
		if got, want := bare(code), bare(without[name]); !slices.Equal(got, want) {
			t.Errorf("%s is\n%s\nand without the seam\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if len(with) != len(without) {
		t.Errorf("%d functions, and %d without the seam", len(with), len(without))
	}
}
