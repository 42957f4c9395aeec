package typedpool_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// goCommand runs the go command that runs the tests.
func goCommand(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command in PATH: ", err)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(cmd.Environ(), "GOARCH="+runtime.GOARCH, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestGetAndPutInline reads the machine code of a program that uses pools, built
// without the tags of this test: what a round trip calls must be what the
// untyped round trip calls, the function that makes a zero object, and through a
// register the function that the options have given to Put.
func TestGetAndPutInline(t *testing.T) {
	program := filepath.Join(t.TempDir(), "caller.exe")
	if out, err := goCommand(t, "build", "-o", program, "./testdata/caller"); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, name := range []string{"roundTripTyped", "roundTripZero"} {
		t.Run(name, func(t *testing.T) {
			code, err := goCommand(t, "tool", "objdump", "-s", `^main\.`+name+"$", program)
			if err != nil {
				t.Fatalf("go tool objdump: %v\n%s", err, code)
			}
			var callees []string
			throughRegister := 0
			for _, call := range regexp.MustCompile(`\b(?:CALL|BL)\s+(\S+)`).FindAllStringSubmatch(code, -1) {
				switch callee := strings.TrimSuffix(call[1], "(SB)"); {
				case !strings.Contains(callee, "."):
					throughRegister++
				case !strings.HasPrefix(callee, "runtime.morestack"):
					callees = append(callees, callee)
				}
			}
			slices.Sort(callees)
			want := []string{"runtime.newobject", "sync.(*Pool).Get", "sync.(*Pool).Put"}
			if !slices.Equal(callees, want) || throughRegister > 1 {
				t.Errorf("calls %q and %d through a register; want %q and at most 1\n%s",
					callees, throughRegister, want, code)
			}
		})
	}
}

// TestInliningBudget asks the compiler the same question, for the day that the
// disassembler has another opinion of what a call looks like.
func TestInliningBudget(t *testing.T) {
	out, err := goCommand(t, "build", "-o", filepath.Join(t.TempDir(), "caller.exe"), "-gcflags=-m=2", "./testdata/caller")
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, method := range []string{"Get", "Put"} {
		if !regexp.MustCompile(`inlining call to typedpool\.\(\*Pool\[.*\]\)\.` + method + `\n`).MatchString(out) {
			t.Errorf("%s does not inline into its callers", method)
		}
	}
}

func TestVetSeesCopies(t *testing.T) {
	out, err := goCommand(t, "vet", "./testdata/copies")
	if err == nil {
		t.Error("go vet accepts copies of pools")
	}
	for _, name := range []string{"Pool[int]", "Buffers", "Slices[int]"} {
		if !strings.Contains(out, "copies lock value to q: github.com/poolswap/poolswap/typedpool."+name) {
			t.Errorf("go vet does not object to a copy of %s:\n%s", name, out)
		}
	}
}
