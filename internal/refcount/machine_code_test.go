//go:build linux && amd64 && !race && !purego && !poolswapsched && !poolswapdebug

package refcount_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/buildflag"
)

var update = flag.Bool("update", false, "record the machine code of the read path")

// TestReadsAreTheRecordedMachineCode: reads cost what they cost without tracing. A change
// of the read path, or another Go, records the code anew: go test -run Recorded -update.
func TestReadsAreTheRecordedMachineCode(t *testing.T) {
	if !buildflag.Optimized() || os.Getenv("GOFLAGS") != "" {
		t.Skip("the record is of a build without flags")
	}
	program, _ := buildCaller(t)
	functions := []string{fastAcquire, fastRelease, "main.Load"}
	listing := disassemble(t, program, functions...)
	var text strings.Builder
	for _, name := range functions {
		text.WriteString(name + "\n")
		for _, in := range listing[name] {
			text.WriteString("\t" + in.code() + "\n")
		}
	}
	version := regexp.MustCompile(`^go1\.\d+`).FindString(runtime.Version())
	file := filepath.Join("testdata", "machine", version+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil { //nolint:gosec // a source
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(recorded) != text.String() {
		t.Errorf("the code differs from that in %s:\n%s", file, &text)
	}
}

// moves matches what differs with the place of a function in the program.
var moves = regexp.MustCompile(`0x[0-9a-f]{5,}|-?0x[0-9a-f]+\(IP\)`)

// code returns the instruction, without where it lies and jumps to.
func (in instruction) code() string {
	args := moves.ReplaceAllString(in.args, "_")
	if in.locked {
		return "LOCK " + in.op + " " + args
	}
	return in.op + " " + args
}
