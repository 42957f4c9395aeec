//go:build linux && amd64 && !purego && !race && !poolswapsched

package refcount_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
)

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
