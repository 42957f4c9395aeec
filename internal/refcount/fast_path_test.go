//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
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
