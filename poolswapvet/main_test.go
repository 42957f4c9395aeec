package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build returns the path of the command.
func build(t *testing.T) string {
	t.Helper()
	tool := filepath.Join(t.TempDir(), "poolswapvet")
	if output, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return tool
}

// TestVetFindsMisuseThroughAnotherPackage: by itself and as a tool of go vet, in a module
// whose package main knows the library only through another.
func TestVetFindsMisuseThroughAnotherPackage(t *testing.T) {
	tool, module := build(t), t.TempDir()
	library, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module example.test/m\n\ngo 1.26\n\nrequire github.com/poolswap/poolswap v0.0.0\n\nreplace github.com/poolswap/poolswap => " + library + "\n",
		"tables/tables.go": `package tables

import "github.com/poolswap/poolswap"

type Table struct {
	poolswap.Ref
	Size int
}

var all = poolswap.NewEmptyContainer(poolswap.NewPool(func() *Table { return new(Table) }, nil))

func Current() *Table { return all.Acquire() }

func Done(t *Table) { all.Release(t) }
`,
		"main.go": `package main

import (
	"fmt"
	"os"

	"example.test/m/tables"
)

func main() {
	t := tables.Current()
	if len(os.Args) > 1 {
		return
	}
	fmt.Println(t.Size)
	tables.Done(t)
	fmt.Println(t.Size)
}
`,
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range [][]string{{tool, "./..."}, {"go", "vet", "-vettool=" + tool, "./..."}} {
		c := exec.Command(command[0], command[1:]...)
		c.Dir = module
		output, err := c.CombinedOutput()
		text := string(output)
		if err == nil || !strings.Contains(text, "main.go:11:21: the result of Current is not released on the path to the return in line 13") ||
			!strings.Contains(text, "an object is used after its Release in line 16") || strings.Count(text, "main.go:") != 2 {
			t.Errorf("%q: %v, says:\n%s", command, err, text)
		}
	}
}

// TestNoReportOnTheLibrary: its packages and examples use the library as they should. The
// tests are left out: they hold and lose references on purpose.
func TestNoReportOnTheLibrary(t *testing.T) {
	c := exec.Command(build(t), "-test=false", "./...")
	c.Dir = ".."
	if output, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
