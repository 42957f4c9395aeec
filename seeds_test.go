package poolswap_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

// TestCodeOfThePublishedDocumentsRuns takes the code blocks of the two READMEs
// that document the interface, which differ in how update gets its object,
// changes the import path, puts them together to a program, and runs that.
//
// Three things had to be done to make programs of the blocks. The pool, which
// functions use, is declared at top level. What is read into a variable and
// not used is printed. The block that shows two ways of making a container is
// split, for both declare the same variable.
func TestCodeOfThePublishedDocumentsRuns(t *testing.T) {
	blocks := readBlocks(t, "testdata/seeds/blocks.txt")
	for _, document := range []string{"000", "001"} {
		t.Run("document "+document, func(t *testing.T) {
			program := assemble(t, document, blocks)
			output := runProgram(t, program)
			const want = "an empty container\nnew_value\n" +
				"a container with an object\nvalue\nnew_value\nnew_value\n" +
				"objects made: 2\n"
			if output != want {
				t.Errorf("it printed\n%s\nwant\n%s\nThe program:\n%s", output, want, program)
			}
		})
	}
}

// readBlocks returns the code blocks of a file by their names, which stand in
// lines of the form "-- name --" before them.
func readBlocks(t *testing.T, path string) map[string]string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for _, part := range strings.Split("\n"+string(text), "\n-- ")[1:] {
		name, code, ok := strings.Cut(part, " --\n")
		if !ok || blocks[name] != "" {
			t.Fatalf("%s: a block without a name, or the second of one name: %s", path, part)
		}
		blocks[name] = code
	}
	return blocks
}

func assemble(t *testing.T, document string, blocks map[string]string) string {
	used := map[string]bool{}
	block := func(name string) (string, error) {
		code, ok := blocks[document+" "+name]
		if !ok {
			return "", fmt.Errorf("document %s has no block %q", document, name)
		}
		used[document+" "+name] = true
		return strings.ReplaceAll(code, "github.com/keilerkonzept/poolswap", "github.com/poolswap/poolswap"), nil
	}
	change := func(old, with string) func(string) (string, error) {
		return func(name string) (string, error) {
			code, err := block(name)
			if err == nil && !strings.Contains(code, old) {
				err = fmt.Errorf("block %q does not contain %q", name, old)
			}
			return strings.ReplaceAll(code, old, with), err
		}
	}
	const read = `val := cache.data["key"]`
	program := template.New("program.tmpl").Funcs(template.FuncMap{
		"code":  block,
		"atTop": change("pool := ", "var pool = "),
		"used":  change(read, read+"; println(val)"),
	})
	if _, err := program.ParseFiles("testdata/seeds/program.tmpl"); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := program.Execute(&text, nil); err != nil {
		t.Fatal(err)
	}
	for name := range blocks {
		if strings.HasPrefix(name, document+" ") && !used[name] {
			t.Errorf("block %q is not in the program", name)
		}
	}
	return text.String()
}

// runProgram runs a program in a module of its own, without any network, and
// returns what it printed.
func runProgram(t *testing.T, program string) string {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	module := "module example\n\ngo 1.26\n\n" +
		"require github.com/poolswap/poolswap v0.0.0\n\n" +
		fmt.Sprintf("replace github.com/poolswap/poolswap => %q\n", root)
	for name, text := range map[string]string{"go.mod": module, "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
	output, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nThe program:\n%s", err, output, program)
	}
	return string(output)
}
