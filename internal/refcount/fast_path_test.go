//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/assembly"
)

var updateFastPath = flag.Bool("update-fast-path", false, "record the machine code of the fast path")

// TestTheMachineCodeOfTheFastPathIsTheRecordedOne: what is added for writers
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
// assembly and interprets its source. What it reads there is what the assembler
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
