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

// goCommand runs the go command.
func goCommand(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(cmd.Environ(), "GOARCH="+runtime.GOARCH, "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestGetAndPutInline reads the machine code of a round trip. It must call the
// functions of an untyped round trip, the function that makes a zero object, and the
// keep function of the options through a register, and nothing else.
func TestGetAndPutInline(t *testing.T) {
	program := filepath.Join(t.TempDir(), "caller.exe")
	if out, err := goCommand(t, "build", "-o", program, "./testdata/caller"); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	code, err := goCommand(t, "tool", "objdump", "-s", `^main\.roundTrip$`, program)
	if err != nil {
		t.Fatalf("go tool objdump: %v\n%s", err, code)
	}
	var callees []string
	for _, call := range regexp.MustCompile(`\b(?:CALL|BL)\s+(\S+)`).FindAllStringSubmatch(code, -1) {
		callee := strings.TrimSuffix(call[1], "(SB)")
		if !strings.Contains(callee, ".") {
			callee = "a register"
		}
		if !strings.HasPrefix(callee, "runtime.morestack") {
			callees = append(callees, callee)
		}
	}
	slices.Sort(callees)
	want := []string{"a register", "runtime.newobject", "sync.(*Pool).Get", "sync.(*Pool).Put"}
	if !slices.Equal(callees, want) {
		t.Errorf("the round trip calls %q, want %q\n%s", callees, want, code)
	}
}

func TestVetSeesCopies(t *testing.T) {
	out, err := goCommand(t, "vet", "./testdata/copies")
	if err == nil {
		t.Error("go vet does not report copies of pools")
	}
	for _, name := range []string{"Pool[int]", "Buffers", "Slices[int]"} {
		if !strings.Contains(out, "copies lock value to q: github.com/poolswap/poolswap/typedpool."+name) {
			t.Errorf("go vet does not report the copy of %s:\n%s", name, out)
		}
	}
}
