//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/assembly"
)

var updateFastPath = flag.Bool("update-fast-path", false, "record the machine code of the fast path")

// TestTheMachineCodeOfTheFastPathIsTheRecordedOne: code that is added for writers
// costs a reader not one instruction. A change that is meant for readers is
// recorded with -update-fast-path, and measured.
func TestTheMachineCodeOfTheFastPathIsTheRecordedOne(t *testing.T) {
	const file = "testdata/fast_path_amd64.txt"
	var got strings.Builder
	program, _ := buildCaller(t)
	for _, name := range []string{fastAcquire, fastRelease} {
		code := disassemble(t, program, name)[name]
		if len(code) < 10 {
			t.Fatalf("%s has %d instructions", name, len(code))
		}
		at := map[string]string{} // jumps differ by where the function lies
		for i, in := range code {
			at[in.address] = fmt.Sprint("line ", i)
		}
		fmt.Fprintln(&got, name)
		for i, in := range code {
			args := in.args
			if line, inside := at[args]; inside {
				args = line
			}
			lock := ""
			if in.locked {
				lock = "LOCK "
			}
			fmt.Fprintf(&got, "%3d %s%s %s\n", i, lock, in.op, args)
		}
	}
	if *updateFastPath {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, file); got.String() != want {
		t.Errorf("the fast path is\n%s\nwant, as in %s\n%s", got.String(), file, want)
	}
}

// TestTheStepsOfTheSourceAreTheMachineCode: the scheduler's build cannot run the
// assembly and interprets its source. It must read there the same as the assembler
// made, instruction by instruction, with the same registers.
func TestTheStepsOfTheSourceAreTheMachineCode(t *testing.T) {
	funcs, err := assembly.Parse(read(t, "read_amd64.s"))
	if err != nil {
		t.Fatal(err)
	}
	sameAs := map[string]string{"JEQ": "JE", "JCC": "JAE", "CMOVQGT": "CMOVG"} // as the disassembler calls them
	registers := regexp.MustCompile(`\b(R\d+|[A-D]X|[SD]I)\b`)
	program, _ := buildCaller(t)
	for name, symbol := range map[string]string{"Acquire": fastAcquire, "Release": fastRelease} {
		code := disassemble(t, program, symbol)[symbol]
		steps := funcs[name].Code
		if len(steps) != len(code) {
			t.Fatalf("%s has %d steps in the source and %d instructions", name, len(steps), len(code))
		}
		for i, step := range steps {
			op := step.Op
			if other := sameAs[op]; other != "" {
				op = other
			}
			from := fmt.Sprint(op, step.Locked, registers.FindAllString(strings.Join(step.Args, ", "), -1))
			made := fmt.Sprint(code[i].op, code[i].locked, registers.FindAllString(code[i].args, -1))
			if from != made {
				t.Errorf("%s, %v: the disassembly has %s %s", name, step, code[i].op, code[i].args)
			}
		}
	}
}

// TestAProgramWithOtherOffsetsReadsThroughTheMethods builds programs in which the
// assembly has the offsets of another version of Go. Without the comparison at
// start-up they would read a wrong word of the runtime.
func TestAProgramWithOtherOffsetsReadsThroughTheMethods(t *testing.T) {
	const file = "read_assembly.go"
	source := read(t, file)
	for _, test := range []struct{ was, becomes, want string }{
		{"", "", "assembly\n"},
		{fmt.Sprintf("\tgM = %d\n", refcount.GM), fmt.Sprintf("\tgM = %d\n", refcount.GM+8), "methods ("},
		{fmt.Sprintf("\tmP = %d\n", refcount.MP), fmt.Sprintf("\tmP = %d\n", refcount.MP+8), "methods ("},
	} {
		dir := t.TempDir()
		if test.was != "" && strings.Count(source, test.was) != 1 {
			t.Fatalf("%q is not once in %s", test.was, file)
		}
		place, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		changed, overlay := filepath.Join(dir, file), filepath.Join(dir, "overlay.json")
		list, err := json.Marshal(map[string]map[string]string{"Replace": {place: changed}})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{changed: strings.Replace(source, test.was, test.becomes, 1), overlay: string(list)} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		program := filepath.Join(dir, "readpath")
		build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./testdata/readpath")
		build.Env = append(os.Environ(), "GOFLAGS=") // not those of this test
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		output, err := exec.Command(program).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(output), test.want) || !strings.HasSuffix(string(output), "\n1\n") {
			t.Errorf("with %q the program ended with %v and printed\n%s\nwant %s… and 1", test.becomes, err, output, test.want)
		}
	}
}

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
	"StopTheWorld", "Goroutine.abi0", // for tracing alone
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
